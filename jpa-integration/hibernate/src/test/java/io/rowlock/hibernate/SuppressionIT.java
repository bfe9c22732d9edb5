package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.JobsSuppressed;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.JpaOutbox;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.Suppression;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceException;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Jobs are left out where, and only where, the application says so. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
@SuppressWarnings("try") // a suppression need not be asked
final class SuppressionIT {
    record Told(int id) {}

    @Entity(name = "Member")
    @Table(name = "member")
    @OutboxJob(
            kind = "changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Member {
        static int payloads;

        @Id
        int id;

        String name;

        Member() {}

        Member(int id) {
            this.id = id;
        }

        @OutboxJob(
                kind = "told",
                on = {Change.PERSIST, Change.UPDATE})
        Told told(EntityChange<Member> change) {
            payloads++;
            return new Told(id);
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;
    private final List<JobsSuppressed> events = new ArrayList<>();
    private JpaOutbox outbox;

    SuppressionIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Member.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        outbox = JpaOutbox.of(Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .listener(event -> {
                    if (event instanceof JobsSuppressed suppressed) {
                        events.add(suppressed);
                    }
                })
                .build());
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM rowlock_job");
        schema.execute("DELETE FROM member");
        events.clear();
        Member.payloads = 0;
    }

    @AfterAll
    void close() {
        unit.close();
    }

    @Test
    void changes_while_it_is_open_have_no_jobs_and_are_counted_and_told() throws Exception {
        unit.commit(em -> {
            try (Suppression silent = outbox.suppress(em, "import")) {
                em.persist(new Member(1));
                em.persist(new Member(2));
                em.flush();
                em.find(Member.class, 1).name = "x";
                assertThat(silent.count()).isEqualTo(4);
            }
        });
        assertThat(unit.jobs()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM member WHERE name = 'x'")).isEqualTo(1);
        assertThat(Member.payloads).as("payload methods called").isZero();
        assertThat(events).containsExactly(new JobsSuppressed("import", Set.of("changed", "told"), 6));
    }

    @Test
    void what_was_changed_before_and_after_it_has_its_jobs() throws Exception {
        unit.commit(em -> {
            em.persist(new Member(1));
            Suppression silent = outbox.suppress(em, "import", "changed", "told");
            em.persist(new Member(2));
            silent.close();
            silent.close();
            em.persist(new Member(3));
        });
        assertThat(schema.list(String.class, "SELECT subject FROM rowlock_job WHERE kind = 'changed' ORDER BY id"))
                .containsExactly("Member:1", "Member:3");
        assertThat(unit.kinds()).filteredOn("told"::equals).hasSize(2);
        assertThat(events).hasSize(1);
    }

    @Test
    void kinds_not_named_are_made() throws Exception {
        unit.commit(em -> {
            try (Suppression silent = outbox.suppress(em, "fixture", "told")) {
                em.persist(new Member(1));
            }
        });
        assertThat(unit.kinds()).containsExactly("changed");
        assertThat(Member.payloads).isZero();
    }

    @Test
    void inner_one_adds_its_kinds_and_counts_first() throws Exception {
        unit.commit(em -> {
            Suppression outer = outbox.suppress(em, "outer", "told");
            try (Suppression inner = outbox.suppress(em, "inner", "changed", "told")) {
                em.persist(new Member(1));
                em.flush();
                assertThat(inner.count()).isEqualTo(2);
            }
            em.persist(new Member(2));
            em.flush();
            assertThat(outer.count()).isEqualTo(1);
            outer.close();
        });
        assertThat(unit.kinds()).containsExactly("changed");
        assertThat(events).extracting(JobsSuppressed::reason).containsExactly("inner", "outer");
    }

    @Test
    void other_sessions_have_their_jobs() throws Exception {
        unit.commit(em -> {
            try (Suppression silent = outbox.suppress(em, "import")) {
                unit.commit(other -> other.persist(new Member(1)));
                em.persist(new Member(2));
                em.flush();
                assertThat(silent.count()).isEqualTo(2);
            }
        });
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "told");
    }

    @Test
    void it_lasts_over_transactions_of_the_session_and_ends_quietly_after_the_last() throws Exception {
        try (EntityManager em = unit.factory().createEntityManager()) {
            Suppression silent = outbox.suppress(em, "import");
            for (int id = 1; id <= 2; id++) {
                em.getTransaction().begin();
                em.persist(new Member(id));
                em.getTransaction().commit();
            }
            silent.close();
            em.getTransaction().begin();
            em.persist(new Member(3));
            em.getTransaction().commit();
        }
        assertThat(schema.list(String.class, "SELECT DISTINCT subject FROM rowlock_job"))
                .containsExactly("Member:3");
    }

    @Test
    void changes_that_cannot_be_flushed_before_it_are_not_lost() {
        try (EntityManager em = unit.factory().createEntityManager()) {
            em.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
            em.persist(new Member(1));
            assertThatThrownBy(() -> outbox.suppress(em, "import"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("no transaction is active");
        }
    }

    @Test
    void failed_flush_at_its_end_ends_it_all_the_same() throws Exception {
        unit.commit(em -> em.persist(new Member(1)));
        schema.execute("DELETE FROM rowlock_job");
        try (EntityManager em = unit.factory().createEntityManager()) {
            em.getTransaction().begin();
            Suppression silent = outbox.suppress(em, "import");
            em.persist(new Member(1));
            assertThatThrownBy(silent::close).isInstanceOf(PersistenceException.class);
            em.getTransaction().rollback();
            em.clear();
            em.getTransaction().begin();
            em.persist(new Member(2));
            em.getTransaction().commit();
        }
        assertThat(unit.kinds()).containsExactlyInAnyOrder("changed", "told");
    }

    @Test
    void stateless_session_leaves_them_out_too_where_it_is_seen() throws Exception {
        if (!AtOnceIT.statelessIsSeen()) {
            return;
        }
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            try (Suppression silent = outbox.suppress(session, "import")) {
                session.insert(new Member(1));
                assertThat(silent.count()).isEqualTo(2);
            }
            session.insert(new Member(2));
            session.getTransaction().commit();
        }
        assertThat(schema.list(String.class, "SELECT DISTINCT subject FROM rowlock_job"))
                .containsExactly("Member:2");
    }

    @Test
    void mistakes_are_refused() {
        try (EntityManager em = unit.factory().createEntityManager()) {
            assertThatThrownBy(() -> outbox.suppress(em, " ", "told"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("needs a reason");
            assertThatThrownBy(() -> outbox.suppress(em, "import", "told", "tolt"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("[tolt]")
                    .hasMessageContaining("[changed, told]");
            assertThatThrownBy(() -> outbox.suppress(em, "import", (String) null))
                    .isInstanceOf(InvalidUseException.class);
            assertThatThrownBy(() -> outbox.suppress(() -> {}, "import"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("No adapter");
            em.close();
            assertThatThrownBy(() -> outbox.suppress(em, "import"))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("a closed one");
        }
    }
}
