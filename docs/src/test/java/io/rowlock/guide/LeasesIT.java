package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.LeaseLostException;
import io.rowlock.job.By;
import io.rowlock.lease.AdvisoryLeader;
import io.rowlock.lease.Candidacy;
import io.rowlock.lease.Fence;
import io.rowlock.lease.Holding;
import io.rowlock.lease.Leader;
import io.rowlock.lease.Lease;
import io.rowlock.lease.Term;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;

@PostgresTest
class LeasesIT {
    private final TestSchema schema;
    private final Rowlock rowlock;
    private final CountDownLatch billed = new CountDownLatch(1);

    LeasesIT(TestSchema schema) throws SQLException {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        schema.execute("CREATE TABLE IF NOT EXISTS billing_run (night date PRIMARY KEY, bills integer NOT NULL)");
    }

    @Test
    void a_lease_is_taken_fenced_and_released() throws Exception {
        // tag::take
        Optional<Lease> taken = rowlock.leases().tryTake("import:customers", Duration.ofSeconds(30));
        if (taken.isPresent()) {
            try (Lease lease = taken.get().onLost(this::stopImport)) {
                try (Connection connection = schema.begin()) {
                    lease.fence(connection); // first; throws LeaseLostException where it is held no more
                    importNext(connection);
                    connection.commit();
                }
            } // released: another can take it at once
        }
        // end::take
        assertThat(taken).isPresent();

        // tag::history
        List<Holding> history = rowlock.leases().history("import:customers", 20);
        rowlock.leases().revoke("import:customers", new By("ada", "the import hangs"));
        // end::history
        assertThat(history).hasSize(1);
    }

    @Entity(name = "Imported")
    static class Imported {
        @Id
        int id;

        int times;
    }

    @Test
    void a_transaction_of_an_entity_manager_is_fenced() throws Exception {
        Lease lease = rowlock.leases().tryTake("import:entities").orElseThrow();
        try (EntityManagerFactory unit = Units.start(schema, Imported.class)) {
            schema.execute("DELETE FROM Imported; INSERT INTO Imported (id, times) VALUES (1, 0)");
            importAgain(unit, lease);
            assertThat(schema.count("SELECT times::bigint FROM Imported")).isEqualTo(1);

            rowlock.leases().revoke("import:entities", new By("ada", "the import hangs"));
            Fence late = rowlock.leases().fence("import:entities", lease.token());
            assertThatThrownBy(() -> importAgain(unit, late)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> unit.runInTransaction(
                            em -> em.runWithConnection((Connection connection) -> late.fence(connection))))
                    .hasCauseInstanceOf(LeaseLostException.class);
            assertThat(schema.count("SELECT times::bigint FROM Imported")).isEqualTo(1);
        }
    }

    private static void importAgain(EntityManagerFactory unit, Fence lease) {
        // tag::entities
        unit.runInTransaction(em -> {
            em.unwrap(Session.class).doWork(lease::fence); // first; what it throws rolls back
            em.find(Imported.class, 1).times++;
        });
        // end::entities
    }

    private void stopImport() {
        throw new AssertionError("not lost");
    }

    private static void importNext(Connection connection) throws SQLException {
        assertThat(connection.getAutoCommit()).isFalse();
    }

    @Test
    void the_nightly_billing_runs_in_one_process_once_a_night() throws Exception {
        // tag::leader
        Leader leader = rowlock.leader();
        Candidacy billing = leader.run("nightly-billing", this::bill);
        // end::leader
        assertThat(billed.await(60, TimeUnit.SECONDS)).isTrue();
        // tag::stop
        rowlock.leases().stop(Duration.ofSeconds(20)); // before the data source is closed
        // end::stop
        assertThat(billing.leads()).isFalse();
        assertThat(schema.count("SELECT max(bills)::bigint FROM billing_run")).isEqualTo(3);
    }

    // tag::billing
    private void bill(Term term) throws Exception {
        while (term.goesOn()) { // before each unit of work
            billNight(term, LocalDate.now(ZoneOffset.UTC));
            TimeUnit.SECONDS.sleep(1); // is interrupted when the lease is lost
        }
    }

    private void billNight(Term term, LocalDate night) throws SQLException {
        try (Connection connection = schema.begin()) {
            term.fence(connection); // a leader of before can commit nothing from here on
            try (var once = connection.prepareStatement(
                    "INSERT INTO billing_run (night, bills) VALUES (?, 0) ON CONFLICT DO NOTHING")) {
                once.setObject(1, night);
                if (once.executeUpdate() == 1) { // the row says that this night is done, not the lease
                    writeBills(connection, night);
                }
            }
            connection.commit();
        }
        billed.countDown();
    }
    // end::billing

    private static void writeBills(Connection connection, LocalDate night) throws SQLException {
        try (var bills = connection.prepareStatement("UPDATE billing_run SET bills = 3 WHERE night = ?")) {
            bills.setObject(1, night);
            bills.executeUpdate();
        }
    }

    @Test
    void a_leader_by_its_session() throws Exception {
        // tag::advisory
        AdvisoryLeader scheduler = rowlock.advisoryLeader("cache-warmer").onLost(this::stopImport);
        boolean led = scheduler.withLeaderLock(() -> warmCaches());
        boolean written = scheduler.withLeaderSession(session -> importNext(session)); // dies with the lock
        scheduler.release();
        // end::advisory
        assertThat(led && written).isTrue();
    }

    private void warmCaches() {
        assertThat(billed.getCount()).isOne();
    }

    @Test
    void a_single_process_always_leads() throws Exception {
        // tag::alone
        Leader leader = Leader.alone(); // one process, or a test: no lease is taken
        boolean led = leader.tryRun("nightly-billing", term -> billNight(term, LocalDate.of(2026, 1, 31)));
        // end::alone
        assertThat(led).isTrue();
    }
}
