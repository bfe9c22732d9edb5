package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.NamedLeaseLost;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holders that stand still, die, or cannot be reached, and transactions that take long. */
@PostgresTest
@Timeout(180)
final class LeaseFaultsIT {
    private static final Duration SHORT = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final TestSchema schema;
    private TestRowlock here;
    private TestRowlock there;

    LeaseFaultsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        here = TestRowlock.fresh(schema);
        there = TestRowlock.beside(schema);
        schema.execute("DROP TABLE IF EXISTS written; CREATE TABLE written (token bigint, n integer)");
    }

    @AfterEach
    void end() {
        here.rowlock().leases().stop(Duration.ZERO);
        there.rowlock().leases().stop(Duration.ZERO);
    }

    private Leases others() {
        return there.rowlock().leases();
    }

    private Optional<Lease> takenWithin(Duration atMost) throws InterruptedException {
        return others().take("billing", LONG, atMost);
    }

    @Test
    @Tag("P3")
    void holder_that_stood_still_past_its_lease_writes_nothing_more() throws Exception {
        try (ChildJvm child = LeaseHolder.launch(schema, SHORT)) {
            child.awaitLine("taken", Duration.ofSeconds(60));
            child.send("write 1");
            child.awaitLine("written 1", Duration.ofSeconds(20));
            child.pause();
            Lease next = takenWithin(Duration.ofSeconds(30)).orElseThrow();
            child.resume();
            child.send("write 2");
            child.awaitLine("refused 2", Duration.ofSeconds(20));
            child.send("write-unasked 3"); // its own view of the lease left out: the row alone refuses
            child.awaitLine("refused 3", Duration.ofSeconds(20));
            soon().until(() -> child.lines().stream().filter("lost"::equals).count() == 1);
            assertThat(schema.list(Integer.class, "SELECT n FROM written")).containsExactly(1);
            assertThat(next.isHeld()).isTrue();
            assertThat(schema.count("SELECT token FROM rowlock_lease")).isEqualTo(next.token());
        }
    }

    @Test
    @Tag("B37")
    void lease_of_a_killed_process_is_free_when_its_time_is_over_and_a_namesake_keeps_it_not_alive() throws Exception {
        try (ChildJvm child = LeaseHolder.launch(schema, SHORT)) {
            child.awaitLine("taken", Duration.ofSeconds(60));
            child.kill();
        }
        assertThat(takenWithin(Duration.ofSeconds(30))).isPresent();
    }

    @Test
    @Tag("P3")
    void long_fenced_transaction_costs_the_holder_nothing_and_holds_off_takers() throws Exception {
        Lease lease = here.rowlock().leases().tryTake("billing", SHORT).orElseThrow();
        try (Connection connection = schema.begin()) {
            lease.fence(connection);
            String first = expiry();
            soon().until(() -> schema.count(
                            "SELECT count(*) FROM rowlock_lease WHERE expires_at > ?::timestamptz + interval '3 s'",
                            first)
                    == 1);
            assertThat(lease.isHeld()).isTrue();
            assertThat(others().tryTake("billing", LONG)).isEmpty();
            connection.commit();
        }
        assertThat(here.events(NamedLeaseLost.class)).isEmpty();
    }

    private String expiry() throws SQLException {
        return schema.one(String.class, "SELECT expires_at::text FROM rowlock_lease")
                .orElseThrow();
    }

    @Test
    @Tag("P3")
    void lease_that_ran_out_under_an_open_fence_is_taken_when_that_transaction_has_ended() throws Exception {
        Lease lease = here.rowlock().leases().tryTake("billing", LONG).orElseThrow();
        try (Connection connection = schema.begin()) {
            lease.fence(connection);
            try (var statement = connection.createStatement()) {
                statement.execute("INSERT INTO written VALUES (" + lease.token() + ", 1)");
            }
            schema.execute("UPDATE rowlock_lease SET expires_at = clock_timestamp()");
            assertThat(others().tryTake("billing", Duration.ofSeconds(1)))
                    .as("held off")
                    .isEmpty();
            connection.commit();
        }
        Lease next = takenWithin(Duration.ofSeconds(20)).orElseThrow();
        assertThat(next.token()).isGreaterThan(lease.token());
    }

    @Test
    @Tag("P3")
    void overlapping_fenced_transactions_starve_no_renewal() throws Exception {
        Lease lease = here.rowlock().leases().tryTake("billing", SHORT).orElseThrow();
        String first = expiry();
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger fenced = new AtomicInteger();
        Thread[] writers = new Thread[3];
        for (int i = 0; i < writers.length; i++) {
            writers[i] = new Thread(() -> writeOverlapping(lease, done, fenced));
            writers[i].start();
        }
        soon().until(() -> schema.count(
                        "SELECT count(*) FROM rowlock_lease WHERE expires_at > ?::timestamptz + interval '4 s'", first)
                == 1);
        done.set(true);
        for (Thread writer : writers) {
            writer.join();
        }
        assertThat(lease.isHeld()).isTrue();
        assertThat(fenced).hasValueGreaterThan(20);
        assertThat(here.events(NamedLeaseLost.class)).isEmpty();
    }

    /** Each begins the next before it ends the last, so that the row is never without a fence. */
    private void writeOverlapping(Lease lease, AtomicBoolean done, AtomicInteger fenced) {
        try (Connection one = schema.begin();
                Connection other = schema.begin()) {
            lease.fence(one);
            while (!done.get()) {
                lease.fence(other);
                one.commit();
                lease.fence(one);
                other.commit();
                fenced.incrementAndGet();
            }
            one.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @Tag("P10")
    void holder_that_the_network_answers_nothing_stops_by_itself_before_another_begins_and_hears_of_it_once()
            throws Exception {
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            Rowlock cutOff = Rowlock.builder()
                    .dataSource(proxy.dataSource(schema))
                    .schema(schema.name())
                    .build();
            Lease lease = cutOff.leases().tryTake("billing", SHORT).orElseThrow();
            AtomicInteger calls = new AtomicInteger();
            lease.onLost(calls::incrementAndGet);
            String first = expiry();
            soon().until(() -> !expiry().equals(first)); // it is renewed
            proxy.freeze();
            Lease next = takenWithin(Duration.ofSeconds(30)).orElseThrow();

            assertThat(lease.isHeld()).as("over before the next begins").isFalse();
            soon().untilAsserted(() -> assertThat(calls).hasValue(1));
            proxy.thaw();
            next.release();
            Lease again = soon().until(() -> cutOff.leases().tryTake("billing", SHORT), Optional::isPresent)
                    .orElseThrow();
            String second = expiry();
            soon().until(() -> !expiry().equals(second)); // and is renewed again
            assertThat(again.isHeld()).isTrue();
            assertThat(calls).hasValue(1);
            cutOff.leases().stop(Duration.ZERO);
        }
    }

    @Test
    @Tag("P10")
    void killed_sessions_cost_no_lease() throws Exception {
        Lease lease = here.rowlock()
                .leases()
                .tryTake("billing", Duration.ofSeconds(6))
                .orElseThrow();
        for (int round = 0; round < 3; round++) {
            String before = expiry();
            soon().until(() -> !expiry().equals(before));
            schema.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    + " AND query LIKE '%" + schema.name() + "%rowlock_lease%'");
        }
        String last = expiry();
        soon().until(() -> !expiry().equals(last));
        assertThat(lease.isHeld()).isTrue();
        assertThat(here.rowlock().leases().health().up()).isTrue();
    }

    @Test
    void row_that_somebody_has_locked_for_a_while_is_not_lost() throws Exception {
        Lease lease = here.rowlock()
                .leases()
                .tryTake("billing", Duration.ofSeconds(3))
                .orElseThrow();
        try (Connection connection = schema.begin();
                var statement = connection.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_lease FOR UPDATE");
            String before = expiry();
            soon().until(() ->
                    lease.left().compareTo(Duration.ofMillis(1_500)) < 0); // a renewal was due, and skipped it
            assertThat(expiry()).isEqualTo(before);
            connection.rollback();
            soon().until(() -> !expiry().equals(before));
        }
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void deleted_row_is_a_lost_lease() throws Exception {
        Lease lease = here.rowlock().leases().tryTake("billing", SHORT).orElseThrow();
        schema.execute("DELETE FROM rowlock_lease");
        soon().until(() -> !lease.isHeld());
        assertThatThrownBy(lease::check).isInstanceOf(LeaseLostException.class).hasMessageContaining("its row says so");
    }
}
