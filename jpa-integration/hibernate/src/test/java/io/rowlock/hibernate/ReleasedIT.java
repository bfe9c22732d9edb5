package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What the application has let go is not kept by Rowlock, though its transaction goes on. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P9")
final class ReleasedIT {
    @Entity(name = "Drop")
    @Table(name = "water_drop")
    @OutboxJob(kind = "drop", on = Change.PERSIST)
    static class Drop {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;
    }

    private final TestSchema schema;
    private final TestUnit unit;
    private final List<WeakReference<Drop>> drops = new ArrayList<>();

    ReleasedIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Drop.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private Drop drop() {
        Drop drop = new Drop();
        drops.add(new WeakReference<>(drop));
        return drop;
    }

    /** The session itself may hold the last one. */
    private void awaitReleased() {
        assertThat(drops).hasSize(100);
        await().untilAsserted(() -> {
            System.gc();
            assertThat(drops.stream().map(WeakReference::get).filter(Objects::nonNull))
                    .hasSizeLessThanOrEqualTo(1);
        });
        drops.clear();
    }

    @Test
    void inserted_by_a_stateless_session() throws Exception {
        if (!AtOnceIT.statelessIsSeen()) {
            return;
        }
        long jobs = schema.count("SELECT count(*) FROM rowlock_job");
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            for (int i = 0; i < 100; i++) {
                session.insert(drop());
            }
            awaitReleased();
            session.getTransaction().commit();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(jobs + 100);
    }

    @Test
    void persisted_at_once_and_detached() throws Exception {
        long jobs = schema.count("SELECT count(*) FROM rowlock_job");
        unit.commit(this::persistAndDetach);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(jobs + 100);
    }

    private void persistAndDetach(EntityManager em) {
        for (int i = 0; i < 100; i++) {
            Drop drop = drop();
            em.persist(drop);
            em.detach(drop);
        }
        awaitReleased();
    }
}
