package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Persistence;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert;

/** A persistence unit with given entities on a test's schema. */
final class TestUnit implements AutoCloseable {
    private final TestSchema schema;
    private final Map<String, Object> properties = new HashMap<>();
    private EntityManagerFactory factory;

    private TestUnit(TestSchema schema, Class<?>... entities) {
        this.schema = schema;
        properties.put("hibernate.loaded_classes", List.of(entities));
        properties.put("jakarta.persistence.nonJtaDataSource", schema.dataSource());
        properties.put("hibernate.hbm2ddl.auto", "update");
        properties.put("rowlock.schema", schema.name());
    }

    static TestUnit on(TestSchema schema, Class<?>... entities) {
        return new TestUnit(schema, entities);
    }

    TestUnit with(String property, Object value) {
        properties.put(property, value);
        return this;
    }

    TestUnit without(String property) {
        properties.remove(property);
        return this;
    }

    /** Installs Rowlock's tables in a schema. */
    static Rowlock install(TestSchema schema) {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        return rowlock;
    }

    /** The innermost cause, where Rowlock's own exception or the server's is. */
    static Throwable root(Throwable thrown) {
        return thrown.getCause() == null ? thrown : root(thrown.getCause());
    }

    /** Runs what may throw, where only what is left in the database afterwards matters. */
    static void swallowing(ThrowableAssert.ThrowingCallable work) {
        assertThatCode(work)
                .satisfiesAnyOf(
                        thrown -> assertThat(thrown).isNull(),
                        thrown -> assertThat(thrown).isInstanceOf(RuntimeException.class));
    }

    /** The SessionFactory, made when first asked for. */
    EntityManagerFactory factory() {
        if (factory == null) {
            factory = Persistence.createEntityManagerFactory("test", properties);
        }
        return factory;
    }

    /** Runs work in a transaction of a new EntityManager and commits. */
    void commit(Consumer<EntityManager> work) {
        commitAnd(em -> {
            work.accept(em);
            return true;
        });
    }

    /** The same with an answer. */
    <T> T commitAnd(Function<EntityManager, T> work) {
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

    /** Runs work in a transaction of a new EntityManager and rolls back. */
    void rollBack(Consumer<EntityManager> work) {
        try (EntityManager em = factory().createEntityManager()) {
            em.getTransaction().begin();
            work.accept(em);
            em.getTransaction().rollback();
        }
    }

    /** The jobs written, as {@code kind payload}, in the order written. */
    List<String> jobs() throws Exception {
        return schema.list(String.class, "SELECT kind || ' ' || payload::text FROM rowlock_job ORDER BY id");
    }

    /** The kinds of the jobs written, in the order written. */
    List<String> kinds() throws Exception {
        return schema.list(String.class, "SELECT kind FROM rowlock_job ORDER BY id");
    }

    @Override
    public void close() {
        if (factory != null) {
            factory.close();
        }
    }
}
