package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Kind;
import io.rowlock.job.Outbox;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.spi.PersistenceUnitBinding.Attachment;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Workers of this JVM are woken once, after a commit and after nothing else. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P9")
final class WakeUpIT {
    @Kind("bell")
    record Bell(long id) {}

    @Entity(name = "Visit")
    @Table(name = "visit")
    @OutboxJob(kind = "visit", on = Change.PERSIST)
    static class Visit {
        @Id
        @GeneratedValue
        Long id;

        @OutboxJob(on = Change.PERSIST)
        Bell bell() {
            return new Bell(id);
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;
    private final List<Collection<Enqueued>> woken = new ArrayList<>();

    WakeUpIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Visit.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        Outbox outbox = Rowlock.builder().schema(schema.name()).build().outbox();
        new HibernateUnitBinding().attach(unit.factory(), new Attachment("tables", outbox, woken::add, event -> {}));
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM rowlock_job");
        woken.clear();
    }

    @AfterAll
    void close() {
        unit.close();
    }

    @Test
    void commit_wakes_once_with_the_earliest_job_of_each_lane() throws Exception {
        unit.commit(em -> {
            for (int i = 0; i < 10; i++) {
                em.persist(new Visit());
                em.flush();
                em.clear();
            }
            assertThat(woken).isEmpty();
        });
        assertThat(woken).hasSize(1);
        assertThat(woken.get(0)).extracting(Enqueued::kind).containsExactlyInAnyOrder("visit", "bell");
        assertThat(woken.get(0))
                .extracting(Enqueued::id)
                .containsExactlyInAnyOrderElementsOf(
                        schema.list(Long.class, "SELECT min(id) FROM rowlock_job GROUP BY kind"));
    }

    @Test
    void rollback_wakes_nobody_and_the_next_transaction_of_the_session_wakes_again() {
        try (EntityManager em = unit.factory().createEntityManager()) {
            em.getTransaction().begin();
            em.persist(new Visit());
            em.flush();
            em.getTransaction().rollback();
            em.clear();
            assertThat(woken).isEmpty();
            em.getTransaction().begin();
            em.persist(new Visit());
            em.getTransaction().commit();
            assertThat(woken).hasSize(1);
            em.getTransaction().begin();
            em.getTransaction().commit();
        }
        assertThat(woken).hasSize(1);
    }
}
