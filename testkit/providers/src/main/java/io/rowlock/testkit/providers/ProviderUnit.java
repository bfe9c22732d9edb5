package io.rowlock.testkit.providers;

import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A persistence unit of the provider under test, on a test's schema. Used by one thread. */
public final class ProviderUnit implements AutoCloseable {
    private final TestSchema schema;
    private final List<Class<?>> entities;
    private final Map<String, Object> properties = new HashMap<>();
    private @Nullable EntityManagerFactory factory;
    private @Nullable HikariDataSource pool;

    private ProviderUnit(TestSchema schema, List<Class<?>> entities) {
        this.schema = schema;
        this.entities = entities;
        properties.put("jakarta.persistence.schema-generation.database.action", "create");
        properties.put("jakarta.persistence.sharedCache.mode", "NONE");
        properties.put("rowlock.schema", schema.name());
    }

    /**
     * A unit that is not started yet.
     *
     * @param schema where its tables will be, and Rowlock's are
     * @param entities its entities, embeddables, mapped superclasses and converters
     * @return a new unit
     */
    public static ProviderUnit on(TestSchema schema, Class<?>... entities) {
        return new ProviderUnit(schema, List.of(entities));
    }

    /**
     * Sets a property; before the unit starts.
     *
     * @param property its name
     * @param value its value
     * @return this
     */
    public ProviderUnit with(String property, Object value) {
        properties.put(property, value);
        return this;
    }

    /**
     * The unit, started when first asked for.
     *
     * @return the same each time
     */
    public EntityManagerFactory factory() {
        if (factory == null) {
            pool = new HikariDataSource();
            pool.setDataSource(schema.dataSource());
            pool.setMinimumIdle(1);
            factory = Providers.here().create(entities, pool, properties);
        }
        return factory;
    }

    /**
     * Runs work in a transaction of a new EntityManager and commits.
     *
     * @param work what to do
     */
    public void commit(Consumer<EntityManager> work) {
        answer(em -> {
            work.accept(em);
            return true;
        });
    }

    /**
     * Runs work in a transaction of a new EntityManager and commits.
     *
     * @param work what to do
     * @param <T> the type of its answer
     * @return its answer
     */
    public <T> T answer(Function<EntityManager, T> work) {
        EntityManager em = factory().createEntityManager();
        try {
            em.getTransaction().begin();
            T answer = work.apply(em);
            em.getTransaction().commit();
            return answer;
        } finally {
            if (em.getTransaction().isActive()) {
                em.getTransaction().rollback();
            }
            em.close();
        }
    }

    /**
     * Runs work in a transaction of a new EntityManager and rolls back.
     *
     * @param work what to do
     */
    public void rollBack(Consumer<EntityManager> work) {
        EntityManager em = factory().createEntityManager();
        try {
            em.getTransaction().begin();
            work.accept(em);
            em.getTransaction().rollback();
        } finally {
            em.close();
        }
    }

    /** Closes the unit and its connections, where it was started. */
    @Override
    public void close() {
        if (factory != null) {
            factory.close();
        }
        if (pool != null) {
            pool.close();
        }
    }
}
