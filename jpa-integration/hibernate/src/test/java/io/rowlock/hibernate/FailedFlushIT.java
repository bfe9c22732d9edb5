package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A flush that fails writes no job, leaves nothing behind, and never lets a change commit without its job. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
@Tag("P9")
final class FailedFlushIT {
    @Kind("named")
    record Named(String name) {}

    @Entity(name = "Account")
    @Table(name = "account")
    static class Account {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE)
        Long id;

        @Column(unique = true)
        String name;

        transient EntityManager toQuery;

        @OutboxJob(on = {Change.PERSIST, Change.UPDATE})
        Named named() {
            switch (name) {
                case "throws" -> throw new IllegalArgumentException("no such name");
                case "modifies" -> name = "modified";
                default -> {}
            }
            if (name.startsWith("loops")) {
                modifyAndQuery();
            }
            return new Named(name.equals("big") ? "x".repeat(3_000) : name);
        }

        private void modifyAndQuery() {
            toQuery.createQuery("from Account", Account.class).getResultList().forEach(each -> {
                if (each != this) {
                    each.name = each.name + "+";
                }
            });
            toQuery.createQuery("select count(a) from Account a", Long.class).getSingleResult();
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    FailedFlushIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Account.class).with("rowlock.max-payload-bytes", "2000");
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM account; DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private static Account account(EntityManager em, String name) {
        Account account = new Account();
        account.name = name;
        account.toQuery = em;
        em.persist(account);
        return account;
    }

    @Test
    void native_session_that_flushes_again_without_a_rollback_of_its_own_commits_nothing() throws Exception {
        unit.commit(em -> account(em, "taken"));
        schema.execute("DELETE FROM rowlock_job");
        try (Session session = unit.factory().unwrap(SessionFactory.class).openSession()) {
            Transaction transaction = session.beginTransaction();
            account(session, "throws");
            assertThat(catchThrowable(session::flush)).isInstanceOf(RowlockException.class);
            TestUnit.swallowing(transaction::commit);
        }
        assertThat(unit.jobs()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM account")).isEqualTo(1);
    }

    @Test
    void throwing_payload_method_rolls_back_and_names_entity_and_method() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    account(em, "fine");
                    account(em, "throws");
                    em.flush();
                }))
                .isInstanceOf(RowlockException.class)
                .hasMessageContaining("Account.named()")
                .hasMessageContaining("Account ")
                .hasRootCauseMessage("no such name");
        assertThat(unit.jobs()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM account")).isZero();
    }

    @Test
    void oversized_payload_rolls_back_and_names_entity_and_kind() throws Exception {
        Throwable thrown = catchThrowable(() -> unit.commit(em -> {
            account(em, "fine");
            account(em, "big");
        }));
        assertThat(TestUnit.root(thrown)).isInstanceOf(InvalidUseException.class);
        assertThat(thrown).hasStackTraceContaining("The job of Account ").hasStackTraceContaining("kind named");
        assertThat(unit.jobs()).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM account")).isZero();
    }

    @Test
    void payload_method_that_modifies_its_entity_is_an_error() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    account(em, "modifies");
                    em.flush();
                }))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("modified attribute name");
        assertThat(schema.count("SELECT count(*) FROM account")).isZero();
    }

    @Test
    void payload_methods_that_modify_each_other_and_query_end_with_an_error() throws Exception {
        assertThatThrownBy(() -> unit.commit(em -> {
                    account(em, "loops");
                    account(em, "loops too");
                    em.flush();
                }))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("again and again");
        assertThat(schema.count("SELECT count(*) FROM account")).isZero();
        assertThat(unit.jobs()).isEmpty();
    }

    @Test
    void failed_flush_of_a_query_that_somebody_swallows_still_commits_nothing() throws Exception {
        TestUnit.swallowing(() -> unit.commit(em -> {
            account(em, "throws");
            TestUnit.swallowing(
                    () -> em.createQuery("from Account", Account.class).getResultList());
        }));
        assertThat(schema.count("SELECT count(*) FROM account")).isZero();
        assertThat(unit.jobs()).isEmpty();
    }
}
