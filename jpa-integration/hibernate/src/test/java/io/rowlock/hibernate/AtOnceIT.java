package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
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
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.Version;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.spi.SessionImplementor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Changes outside a flush get their jobs at once, so that none needs a flush that may never come. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
final class AtOnceIT {
    @Entity(name = "Note")
    @Table(name = "note")
    @OutboxJob(
            kind = "note",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Note {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;

        String text;
    }

    private final TestSchema schema;
    private final TestUnit unit;

    AtOnceIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Note.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM note; DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    /** Whether a StatelessSession shows itself to listeners. */
    static boolean statelessIsSeen() {
        return !Version.getVersionString().matches("(6\\..*|7\\.[01]\\..*)");
    }

    private String job(Object id, String change) {
        return "note {\"entity\":\"Note\",\"id\":\"" + id + "\",\"change\":\"" + change + "\",\"version\":null}";
    }

    @Test
    void change_after_a_flush_that_never_ended_is_written_at_once() throws Exception {
        HibernateUnit ours = Factories.unit(unit.factory().unwrap(SessionFactoryImplementor.class));
        unit.commit(em -> {
            em.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
            ours.flushBegins(em.unwrap(SessionImplementor.class));
            em.persist(new Note());
        });
        assertThat(unit.kinds()).containsExactly("note");
    }

    @Test
    void flush_outside_a_transaction_is_refused() throws Exception {
        try (TestUnit loose = TestUnit.on(schema, Note.class).with("hibernate.allow_update_outside_transaction", true);
                EntityManager em = loose.factory().createEntityManager()) {
            Note note = new Note();
            em.persist(note);
            assertThatThrownBy(em::flush)
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("outside a transaction");
        }
        assertThat(unit.jobs()).isEmpty();
    }

    @Test
    void stateless_session_writes_jobs_or_fails_loudly() throws Exception {
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            Note note = new Note();
            if (statelessIsSeen()) {
                session.insert(note);
                note.text = "changed";
                session.update(note);
                session.delete(note);
                session.getTransaction().commit();
                assertThat(unit.jobs())
                        .containsExactly(job(note.id, "PERSIST"), job(note.id, "UPDATE"), job(note.id, "REMOVE"));
            } else {
                assertThatThrownBy(() -> session.insert(note))
                        .isInstanceOf(InvalidUseException.class)
                        .hasMessageContaining("Note would be lost")
                        .hasMessageContaining("rowlock.stateless=warn");
                session.getTransaction().rollback();
            }
        }
    }

    @Test
    void upsert_is_an_insert_or_an_update_and_makes_one_job() throws Exception {
        Note note = unit.commitAnd(em -> {
            Note stored = new Note();
            em.persist(stored);
            return stored;
        });
        schema.execute("DELETE FROM rowlock_job");
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            note.text = "upserted";
            if (statelessIsSeen()) {
                session.upsert(note);
                session.getTransaction().commit();
                assertThat(unit.jobs()).hasSize(1).first().asString().containsAnyOf("PERSIST", "UPDATE");
            } else {
                assertThatThrownBy(() -> session.upsert(note)).isInstanceOf(InvalidUseException.class);
                session.getTransaction().rollback();
            }
        }
    }

    @Test
    void stateless_session_may_only_warn_where_told_to() throws Exception {
        try (TestUnit warned = TestUnit.on(schema, Note.class).with("rowlock.stateless", "warn");
                StatelessSession session =
                        warned.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            session.insert(new Note());
            session.getTransaction().commit();
        }
        assertThat(unit.jobs()).hasSize(statelessIsSeen() ? 1 : 0);
        assertThat(schema.count("SELECT count(*) FROM note")).isEqualTo(1);
    }

    @Test
    void stateless_session_without_a_transaction_is_refused() throws Exception {
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            assertThatThrownBy(() -> session.insert(new Note())).isInstanceOf(RuntimeException.class);
        }
        assertThat(unit.jobs()).isEmpty();
    }
}
