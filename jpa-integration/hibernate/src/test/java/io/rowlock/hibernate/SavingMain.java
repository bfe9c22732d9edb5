package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Persistence;
import jakarta.persistence.Table;
import java.util.List;
import java.util.Map;
import org.postgresql.ds.PGSimpleDataSource;

/** The process of {@link FlatHeapIT}: saves entities in one transaction and says how much heap is left in use. */
final class SavingMain {
    static final int ENTITIES = 200_000;
    private static final int FLUSH_EVERY = 50;
    private static final int REPORT_EVERY = ENTITIES / 8;

    private SavingMain() {}

    @Entity(name = "Measurement")
    @Table(name = "measurement")
    @OutboxJob(kind = "measured", on = Change.PERSIST)
    static class Measurement {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE)
        Long id;

        String text = "measured";
    }

    public static void main(String[] args) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(args[0]);
        source.setUser(args[1]);
        source.setPassword(args[2]);
        RecordingDataSource recorded = new RecordingDataSource();
        Map<String, Object> properties = Map.of(
                "hibernate.loaded_classes",
                List.of(Measurement.class),
                "jakarta.persistence.nonJtaDataSource",
                recorded.of(source),
                "hibernate.hbm2ddl.auto",
                "update",
                "hibernate.jdbc.batch_size",
                FLUSH_EVERY,
                "rowlock.schema",
                args[3]);
        try (EntityManagerFactory factory = Persistence.createEntityManagerFactory("test", properties);
                EntityManager em = factory.createEntityManager()) {
            recorded.clear();
            em.getTransaction().begin();
            for (int i = 1; i <= ENTITIES; i++) {
                em.persist(new Measurement());
                if (i % FLUSH_EVERY == 0) {
                    em.flush();
                    em.clear();
                }
                if (i % REPORT_EVERY == 0) {
                    report(i, recorded.count());
                }
            }
            em.getTransaction().commit();
        }
    }

    private static void report(int saved, long statements) {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        long used = runtime.totalMemory() - runtime.freeMemory();
        System.out.println("saved=" + saved + " used=" + used + " statements=" + statements);
    }
}
