package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.NamedLeaseLost;
import io.rowlock.event.RowlockEvent.NamedLeaseReleased;
import io.rowlock.event.RowlockEvent.NamedLeaseTaken;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@PostgresTest
@Timeout(120)
final class LeasesIT {
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final TestSchema schema;
    private TestRowlock here;
    private TestRowlock there;

    LeasesIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        here = TestRowlock.fresh(schema);
        there = TestRowlock.beside(schema);
        schema.execute("DROP TABLE IF EXISTS written; CREATE TABLE written (token bigint)");
    }

    @AfterEach
    void end() {
        here.rowlock().leases().stop(Duration.ZERO);
        there.rowlock().leases().stop(Duration.ZERO);
    }

    private Leases leases() {
        return here.rowlock().leases();
    }

    private Leases others() {
        return there.rowlock().leases();
    }

    @Test
    void held_lease_is_taken_by_nobody_and_a_released_one_at_once_by_anybody() {
        Lease lease = leases().tryTake("billing", LONG).orElseThrow();

        assertThat(others().tryTake("billing", LONG)).isEmpty();
        assertThat(leases().tryTake("billing", LONG)).as("not re-entrant").isEmpty();
        assertThat(others().tryTake("another", LONG)).isPresent();
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.left()).isPositive().isLessThanOrEqualTo(LONG);

        assertThat(lease.release()).isTrue();
        assertThat(lease.release()).isFalse();
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.left()).isZero();
        assertThatThrownBy(lease::check).isInstanceOf(LeaseLostException.class).hasMessageContaining("released");
        assertThat(others().tryTake("billing", LONG)).isPresent();
        assertThat(here.events(NamedLeaseTaken.class)).hasSize(1);
        assertThat(here.events(NamedLeaseReleased.class)).hasSize(1);
    }

    @Test
    @Tag("P3")
    void token_grows_with_every_taker_also_after_the_row_was_deleted() throws Exception {
        List<Long> tokens = new ArrayList<>();
        for (int round = 0; round < 6; round++) {
            Lease lease = (round % 2 == 0 ? leases() : others())
                    .tryTake("billing", LONG)
                    .orElseThrow();
            tokens.add(lease.token());
            lease.release();
            if (round > 2) {
                schema.execute("DELETE FROM rowlock_lease WHERE name = 'billing'");
            }
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void token_grows_though_somebody_has_set_the_sequence_back() throws Exception {
        long before = leases().tryTake("billing", LONG)
                .map(lease -> {
                    lease.release();
                    return lease.token();
                })
                .orElseThrow();
        schema.execute("UPDATE rowlock_lease SET token = token + 1000");
        assertThat(others().tryTake("billing", LONG).orElseThrow().token()).isGreaterThan(before + 1000);
    }

    @Test
    @Tag("P3")
    void renewal_changes_when_it_expires_and_nothing_else_by_hot_updates() throws Exception {
        String hot = "SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'rowlock_lease'::regclass";
        Lease lease = leases().tryTake("billing", SHORT).orElseThrow();
        String row = "SELECT (name, token, holder, taken_at)::text FROM rowlock_lease";
        String before = schema.one(String.class, row).orElseThrow();
        long first = schema.count(hot);
        soon().until(() -> schema.count(hot) >= first + 4);

        assertThat(schema.one(String.class, row)).hasValue(before);
        assertThat(lease.isHeld()).isTrue();
        assertThat(schema.count("SELECT count(*) FROM rowlock_lease WHERE expires_at > clock_timestamp()"))
                .isOne();
    }

    @Test
    void of_many_takers_at_once_one_has_it_however_often() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            long last = 0;
            for (int round = 0; round < 15; round++) {
                CountDownLatch start = new CountDownLatch(1);
                List<Future<Optional<Lease>>> tries = new ArrayList<>();
                for (int taker = 0; taker < 8; taker++) {
                    Leases its = taker % 2 == 0 ? leases() : others();
                    Callable<Optional<Lease>> attempt = () -> {
                        start.await();
                        return its.tryTake("race", LONG);
                    };
                    tries.add(threads.submit(attempt));
                }
                start.countDown();
                List<Lease> taken = new ArrayList<>();
                for (Future<Optional<Lease>> each : tries) {
                    each.get().ifPresent(taken::add);
                }
                assertThat(taken).hasSize(1);
                assertThat(taken.get(0).token()).isGreaterThan(last);
                last = taken.get(0).token();
                taken.get(0).release();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @Tag("B37")
    void lease_of_a_vanished_holder_is_taken_when_its_time_is_over_and_its_history_says_so() throws Exception {
        Lease mine = leases().tryTake("billing", LONG).orElseThrow();
        schema.execute("UPDATE rowlock_lease SET holder = 'dead', expires_at = clock_timestamp() - interval '1 s';"
                + " UPDATE rowlock_lease_history SET holder = 'dead'");
        Lease next = others().tryTake("billing", LONG).orElseThrow();

        assertThat(next.token()).isGreaterThan(mine.token());
        assertThat(next.holder()).isNotEqualTo(mine.holder());
        List<Holding> history = leases().history("billing", 10);
        assertThat(history).extracting(Holding::holder).containsExactly(next.holder(), "dead");
        assertThat(history).extracting(Holding::end).containsExactly(null, Holding.End.EXPIRED);
        assertThat(history.get(1).endedAt()).isBefore(history.get(0).takenAt());
        next.release();
        assertThat(leases().history("billing", 1).get(0).end()).isEqualTo(Holding.End.RELEASED);
    }

    @Test
    @Tag("B24")
    void whether_it_has_run_out_is_said_by_the_database_whatever_the_session_and_the_node_think() throws Exception {
        assertThat(leases().tryTake("billing", LONG)).isPresent();
        Rowlock elsewhere = Rowlock.builder()
                .connections(() -> {
                    Connection connection = schema.connect();
                    try (var statement = connection.createStatement()) {
                        statement.execute("SET TIME ZONE 'Pacific/Kiritimati'");
                    }
                    return connection;
                })
                .schema(schema.name())
                .build();
        assertThat(elsewhere.leases().tryTake("billing", LONG)).isEmpty();
        schema.execute("UPDATE rowlock_lease SET expires_at = clock_timestamp()");
        Lease taken = elsewhere.leases().tryTake("billing", LONG).orElseThrow();
        assertThat(
                        schema.count(
                                "SELECT count(*) FROM rowlock_lease WHERE expires_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 minute'"))
                .isOne();
        taken.release();
    }

    @Test
    @Tag("P3")
    void fence_of_the_holder_lets_write_and_that_of_one_before_does_not() throws Exception {
        Lease first = leases().tryTake("billing", LONG).orElseThrow();
        Fence late = leases().fence("billing", first.token());
        try (Connection connection = schema.begin()) {
            first.fence(connection);
            write(connection, first.token());
            connection.commit();
        }
        first.release();
        refused(late);
        Lease second = others().tryTake("billing", LONG).orElseThrow();
        refused(late);
        assertThatThrownBy(() -> {
                    try (Connection connection = schema.begin()) {
                        first.fence(connection);
                    }
                })
                .isInstanceOf(LeaseLostException.class);
        try (Connection connection = schema.begin()) {
            others().fence("billing", second.token()).fence(connection);
            write(connection, second.token());
            connection.commit();
        }
        schema.execute("UPDATE rowlock_lease SET expires_at = clock_timestamp()");
        refused(others().fence("billing", second.token()));
        assertThat(schema.list(Long.class, "SELECT token FROM written ORDER BY token"))
                .containsExactly(first.token(), second.token());
    }

    private void refused(Fence late) throws SQLException {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> late.fence(connection)).isInstanceOfSatisfying(LeaseLostException.class, lost -> {
                assertThat(lost.lease()).hasValue("billing");
                assertThat(lost.token()).isEqualTo(late.token());
                assertThat(lost.jobId()).isZero();
            });
            assertThat(connection.createStatement().execute("SELECT 1"))
                    .as("not poisoned")
                    .isTrue();
            connection.rollback();
        }
    }

    private static void write(Connection connection, long token) throws SQLException {
        try (var statement = connection.prepareStatement("INSERT INTO written VALUES (?)")) {
            statement.setLong(1, token);
            statement.executeUpdate();
        }
    }

    @Test
    @Tag("P15")
    void fence_without_a_transaction_or_with_an_old_snapshot_is_refused_and_poisons_nothing() throws Exception {
        Lease lease = leases().tryTake("billing", LONG).orElseThrow();
        try (Connection connection = schema.connect()) {
            assertThatThrownBy(() -> lease.fence(connection))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("autocommit");
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> lease.fence(connection))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("repeatable read")
                    .hasMessageContaining("make it READ COMMITTED");
            write(connection, 1);
            connection.commit();
        }
        assertThatThrownBy(() -> lease.fence(null)).isInstanceOf(InvalidUseException.class);
        assertThat(schema.count("SELECT count(*) FROM written")).isOne();
    }

    @Test
    void names_and_times_that_cannot_be_are_refused_before_any_sql() {
        Leases without = Rowlock.builder().build().leases();
        for (String name : new String[] {null, " ", "a\u0000b", "x".repeat(201), "\ud800"}) {
            assertThatThrownBy(() -> without.tryTake(name, LONG)).isInstanceOf(InvalidUseException.class);
        }
        assertThatThrownBy(() -> without.tryTake("a", Duration.ofMillis(999)))
                .isInstanceOf(InvalidUseException.class)
                .hasMessage("The time to live of a lease must be between PT1S and PT24H, got PT0.999S");
        assertThatThrownBy(() -> without.tryTake("a", Duration.ofDays(2))).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> without.history("a", 0)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> without.all("", 1_001)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> without.tryTake("a", LONG))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("no data source");
    }

    @Test
    @Tag("P3")
    void revoked_lease_is_lost_to_its_holder_at_its_next_renewal_and_its_fence_at_once() throws Exception {
        Lease lease = leases().tryTake("billing", Duration.ofSeconds(3)).orElseThrow();
        AtomicInteger calls = new AtomicInteger();
        lease.onLost(calls::incrementAndGet);
        By ada = new By("ada", "it hangs");

        assertThat(others().revoke("billing", ada)).isTrue();
        refused(leases().fence("billing", lease.token()));
        assertThat(others().revoke("billing", ada)).isFalse();
        soon().until(() -> calls.get() == 1);
        assertThat(lease.isHeld()).isFalse();
        soon().untilAsserted(() -> assertThat(here.events(NamedLeaseLost.class)).hasSize(1));
        assertThatThrownBy(lease::check).hasMessageContaining("revoked");
        assertThat(schema.list(
                        String.class,
                        "SELECT who || ': ' || why || ': ' || what || ' ' || lease FROM rowlock_operation"))
                .containsExactly("ada: it hangs: revoke billing");
        assertThat(leases().history("billing", 1).get(0).end()).isEqualTo(Holding.End.REVOKED);
        Lease next = others().tryTake("billing", LONG).orElseThrow();
        assertThat(next.token()).isGreaterThan(lease.token());
        lease.onLost(calls::incrementAndGet);
        soon().untilAsserted(() ->
                assertThat(calls).as("at once, when it is lost already").hasValue(2));
    }

    @Test
    void who_waits_for_a_lease_has_it_when_it_is_released_and_gives_up_in_time() throws Exception {
        Lease lease = leases().tryTake("billing", LONG).orElseThrow();
        assertThat(others().take("billing", LONG, Duration.ofMillis(50))).isEmpty();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<Optional<Lease>> waiting = thread.submit(() -> others().take("billing", LONG, LONG));
            lease.release();
            assertThat(waiting.get()).isPresent();
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void rows_and_history_can_be_looked_up() {
        Lease b = leases().tryTake("b", LONG).orElseThrow();
        leases().tryTake("a", LONG).orElseThrow().release();

        assertThat(leases().find("b").orElseThrow().heldBy()).hasValue(b.holder());
        assertThat(leases().find("a").orElseThrow().heldBy()).isEmpty();
        assertThat(leases().find("c")).isEmpty();
        assertThat(leases().all("", 10)).extracting(LeaseView::name).containsExactly("a", "b");
        assertThat(leases().all("a", 10)).extracting(LeaseView::name).containsExactly("b");
        assertThat(leases().health()).isEqualTo(new LeasesHealth(1, List.of()));
    }

    @Test
    void past_holdings_are_pruned_with_the_rows_that_nobody_took_again_and_tokens_grow_all_the_same() throws Exception {
        long old = 0;
        for (String name : List.of("forgotten", "used", "fenced")) {
            Lease lease = leases().tryTake(name, LONG).orElseThrow();
            old = lease.token();
            lease.release();
        }
        Lease held = leases().tryTake("held", LONG).orElseThrow();
        schema.execute(
                "UPDATE rowlock_lease_history SET taken_at = taken_at - interval '100 days', ended_at = ended_at - interval '100 days';"
                        + " UPDATE rowlock_lease SET expires_at = expires_at - interval '100 days' WHERE name <> 'held'");
        assertThat(leases().tryTake("used", LONG)).isPresent();
        try (Connection fence = schema.begin();
                var statement = fence.createStatement()) {
            statement.execute("SELECT 1 FROM rowlock_lease WHERE name = 'fenced' FOR KEY SHARE");
            try (Worker worker = here.work(w -> w.handle(JobKind.named("none", String.class), (none, job) -> {}))) {
                soon().until(() -> schema.count("SELECT count(*) FROM rowlock_lease_history") == 2);
                assertThat(worker.health().up()).isTrue();
            }
        }
        assertThat(schema.list(String.class, "SELECT name FROM rowlock_lease ORDER BY name"))
                .containsExactly("fenced", "held", "used");
        assertThat(leases().history("held", 10)).hasSize(1);
        assertThat(leases().history("used", 10)).hasSize(1);
        assertThat(held.isHeld()).isTrue();
        assertThat(others().tryTake("forgotten", LONG).orElseThrow().token()).isGreaterThan(old);
    }

    @Test
    void stop_releases_what_is_held_and_a_later_lease_is_a_new_beginning() {
        Lease first = leases().tryTake("a", LONG).orElseThrow();
        assertThat(leases().tryTake("b", SHORT)).isPresent();

        assertThat(leases().stop(Duration.ZERO)).isTrue();
        assertThat(first.isHeld()).isFalse();
        assertThat(others().tryTake("a", LONG)).isPresent();
        Lease again = leases().tryTake("b", SHORT).orElseThrow();
        soon().until(() -> schema.count(
                        "SELECT count(*) FROM rowlock_lease WHERE name = 'b' AND expires_at > taken_at + interval '2 s'")
                == 1);
        assertThat(again.isHeld()).isTrue();
    }
}
