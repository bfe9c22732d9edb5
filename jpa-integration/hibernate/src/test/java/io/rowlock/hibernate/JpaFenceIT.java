package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.lease.Fence;
import io.rowlock.lease.Lease;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Duration;
import org.hibernate.Session;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The fence of a lease in an EntityManager's transaction. */
@PostgresTest
@Tag("P3")
final class JpaFenceIT {
    @Kind("billed")
    record Billed(int account) {}

    @Entity(name = "FencedAccount")
    @Table(name = "fenced_account")
    static class Account {
        @Id
        int id;

        int bills;

        @OutboxJob(on = {Change.PERSIST, Change.UPDATE})
        Billed billed() {
            return new Billed(id);
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;
    private final Rowlock rowlock;

    JpaFenceIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Account.class);
        this.rowlock = TestUnit.install(schema);
    }

    @BeforeEach
    void open() throws Exception {
        unit.factory();
        schema.execute("TRUNCATE fenced_account, rowlock_job; INSERT INTO fenced_account (id, bills) VALUES (1, 0)");
    }

    @AfterEach
    void close() {
        rowlock.leases().stop(Duration.ZERO);
        unit.close();
    }

    private static void fence(EntityManager em, Fence lease) {
        em.unwrap(Session.class).doWork(lease::fence);
    }

    private static void bill(EntityManager em) {
        em.find(Account.class, 1).bills++;
    }

    private void assertBills(int bills, int jobs) throws Exception {
        assertThat(schema.count("SELECT bills::bigint FROM fenced_account")).isEqualTo(bills);
        assertThat(unit.jobs()).hasSize(jobs);
    }

    @Test
    void holder_changes_its_entities_and_nobody_takes_the_lease_before_the_commit() throws Exception {
        Lease lease = rowlock.leases().tryTake("billing").orElseThrow();
        unit.commit(em -> {
            fence(em, lease);
            bill(em);
            em.flush();
            run(() -> schema.execute("UPDATE rowlock_lease SET expires_at = clock_timestamp()"));
            assertThat(rowlock.leases().tryTake("billing")).as("held off").isEmpty();
        });
        assertBills(1, 1);
        assertThat(rowlock.leases().tryTake("billing")).isPresent();
    }

    @Test
    void late_holder_is_refused_and_its_change_and_its_job_are_rolled_back() throws Exception {
        Lease taken = rowlock.leases().tryTake("billing").orElseThrow();
        Fence late = rowlock.leases().fence("billing", taken.token()); // stood still: knows nothing of the loss
        rowlock.leases().revoke("billing", new By("ada", "it hangs"));
        assertThat(rowlock.leases().tryTake("billing")).isPresent();

        assertThatThrownBy(() -> unit.commit(em -> {
                    fence(em, late);
                    bill(em);
                }))
                .isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> unit.commit(em -> {
                    bill(em);
                    em.flush(); // written, and its job too
                    fence(em, late);
                }))
                .isInstanceOf(LeaseLostException.class);
        assertBills(0, 0);
    }

    @Test
    void fence_outside_of_a_transaction_is_refused() {
        Lease lease = rowlock.leases().tryTake("billing").orElseThrow();
        try (EntityManager em = unit.factory().createEntityManager()) {
            assertThatThrownBy(() -> fence(em, lease)).isInstanceOf(InvalidUseException.class);
        }
        lease.release();
    }

    private interface Sql {
        void run() throws Exception;
    }

    private static void run(Sql sql) {
        try {
            sql.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
