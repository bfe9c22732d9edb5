package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.cost.Cost;
import io.rowlock.testkit.cost.CostBudget;
import io.rowlock.testkit.cost.CostScene;
import io.rowlock.testkit.cost.CostServer;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What an annotation adds to what an entity costs anyway, counted and held against {@code costs.txt}: each scene is that of an
 * annotated entity without that of a plain one, of the same table.
 */
@Tag("P14")
@Tag("B45")
final class CostsIT {
    private static final int ENTITIES = 100;

    /** Of one name, so that Hibernate writes the same SQL for both. */
    private static final class WithJob {
        @Entity(name = "Reading")
        @Table(name = "reading")
        @OutboxJob(
                kind = "reading",
                on = {Change.PERSIST, Change.UPDATE})
        static class Reading {
            @Id
            int id;

            int size;
        }
    }

    private static final class Alone {
        @Entity(name = "Reading")
        @Table(name = "reading")
        static class Reading {
            @Id
            int id;

            int size;
        }
    }

    /** What is done to the entity of one number. */
    @FunctionalInterface
    private interface Deed {
        void to(EntityManager em, int id);
    }

    private final List<Cost> found = new ArrayList<>();

    @Test
    void annotation_costs_its_budget_and_no_less() throws Exception {
        try (CostServer server = CostServer.start()) {
            Deed insert = (em, id) -> em.persist(plain(id));
            Deed insertAnnotated = (em, id) -> em.persist(annotated(id));
            Deed update = (em, id) -> em.find(Alone.Reading.class, id).size++;
            Deed updateAnnotated = (em, id) -> em.find(WithJob.Reading.class, id).size++;
            added(server, "insert-one-by-one", 1, insert, insertAnnotated);
            added(server, "insert-hundred-in-one-flush", ENTITIES, insert, insertAnnotated);
            added(server, "update-one-by-one", 1, update, updateAnnotated);
            added(server, "update-hundred-in-one-flush", ENTITIES, update, updateAnnotated);
        }
        CostBudget.of(Path.of("costs.txt")).check(found);
    }

    private void added(CostServer server, String name, int perFlush, Deed plain, Deed annotated) throws Exception {
        Cost without = cost(server, Alone.Reading.class, perFlush, plain, name.startsWith("update"));
        Cost with = cost(server, WithJob.Reading.class, perFlush, annotated, name.startsWith("update"));
        found.add(with.beyond(without, name, ENTITIES, "entities"));
    }

    private static Cost cost(CostServer server, Class<?> entity, int perFlush, Deed deed, boolean there)
            throws Exception {
        try (CostScene scene = server.scene("entity");
                TestUnit unit = TestUnit.on(scene.schema(), entity)
                        .with("jakarta.persistence.nonJtaDataSource", scene.dataSource())
                        .with("hibernate.jdbc.batch_size", ENTITIES)) {
            TestUnit.install(scene.schema());
            unit.factory();
            if (there) {
                scene.schema().execute("INSERT INTO reading (id, size) SELECT i, 0 FROM generate_series(1, 100) i");
            }
            (perFlush == 1 ? scene.ofRepetitions() : scene)
                    .after(() ->
                            scene.schema().execute("DELETE FROM rowlock_job" + (there ? "" : "; DELETE FROM reading")));
            return scene.measure(ENTITIES, "entities", () -> {
                for (int first = 1; first <= ENTITIES; first += perFlush) {
                    int from = first;
                    unit.commit(em -> {
                        for (int id = from; id < from + perFlush; id++) {
                            deed.to(em, id);
                        }
                    });
                }
            });
        }
    }

    private static Alone.Reading plain(int id) {
        Alone.Reading plain = new Alone.Reading();
        plain.id = id;
        return plain;
    }

    private static WithJob.Reading annotated(int id) {
        WithJob.Reading annotated = new WithJob.Reading();
        annotated.id = id;
        return annotated;
    }
}
