package io.rowlock.benchmark.load;

import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

/** The process of {@link Heap}: saves entities in one transaction and says how much heap is in use. */
final class SavingMain {
    static final int REPORTS = 8;
    private static final int FLUSH_EVERY = 50;

    private SavingMain() {}

    public static void main(String[] arguments) {
        TestSchema schema = Children.schema(arguments);
        int entities = Integer.parseInt(arguments[1]);
        int reportEvery = Math.max(1, entities / REPORTS);
        try (EntityManagerFactory factory = Unit.on(schema);
                EntityManager em = factory.createEntityManager()) {
            em.getTransaction().begin();
            for (int i = 1; i <= reportEvery * REPORTS || i <= entities; i++) {
                em.persist(new AnnotatedNote("note " + i));
                if (i % FLUSH_EVERY == 0) {
                    em.flush();
                    em.clear();
                }
                if (i % reportEvery == 0 && i / reportEvery <= REPORTS) {
                    System.gc();
                    Runtime runtime = Runtime.getRuntime();
                    System.out.println("used=" + (runtime.totalMemory() - runtime.freeMemory()));
                }
            }
            em.getTransaction().commit();
        }
    }
}
