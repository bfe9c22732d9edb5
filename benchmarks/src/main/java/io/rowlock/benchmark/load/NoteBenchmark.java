package io.rowlock.benchmark.load;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A transaction that saves entities, for JMH. */
@State(Scope.Thread)
public class NoteBenchmark {
    /** Where the trial's schema is. */
    @Param("")
    public String url = "";

    /** Who connects. */
    @Param("")
    public String user = "";

    /** The name of the trial's schema. */
    @Param("")
    public String schema = "";

    /** Whether the entities write jobs. */
    @Param("false")
    public boolean annotated;

    /** So many in a transaction, and its flush. */
    @Param("1")
    public int entities;

    private AutoCloseable pool = () -> {};

    @SuppressWarnings("NullAway.Init") // by open(), which JMH calls first
    private EntityManagerFactory factory;

    private Function<String, Object> make = PlainNote::new;

    /** Makes the session factory. */
    @Setup
    public void open() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword("postgres");
        config.setMaximumPoolSize(2);
        config.setAutoCommit(false);
        HikariDataSource source = new HikariDataSource(config);
        pool = source;
        factory = Unit.on(source, schema);
        make = annotated ? AnnotatedNote::new : PlainNote::new;
    }

    /** Closes it. */
    @TearDown
    public void close() throws Exception {
        factory.close();
        pool.close();
    }

    /** One transaction. */
    @Benchmark
    public void save() {
        try (EntityManager em = factory.createEntityManager()) {
            em.getTransaction().begin();
            for (int i = 0; i < entities; i++) {
                em.persist(make.apply("a note of some words"));
            }
            em.getTransaction().commit();
        }
    }
}
