package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.fixture.FakePooler;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

@PostgresTest
@Timeout(120)
final class AdvisoryLeaderIT {
    private final TestSchema schema;
    private TestRowlock here;
    private AdvisoryLeader first;
    private AdvisoryLeader second;

    AdvisoryLeaderIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        here = TestRowlock.fresh(schema);
        first = here.rowlock().advisoryLeader("scheduler");
        second = TestRowlock.beside(schema).rowlock().advisoryLeader("scheduler");
        schema.execute("DROP TABLE IF EXISTS written; CREATE TABLE written (n integer)");
    }

    @AfterEach
    void end() {
        first.close();
        second.close();
    }

    private long locks() throws SQLException {
        return schema.count(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                        + " AND (classid::bigint << 32 | objid::bigint) = ?",
                first.key());
    }

    private void killLeader() throws SQLException {
        assertThat(schema.count(
                        "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                                + " AND (classid::bigint << 32 | objid::bigint) = ?",
                        first.key()))
                .isOne();
    }

    @Test
    void one_leads_until_it_releases() throws Exception {
        assertThat(first.tryAcquire()).isTrue();
        assertThat(first.tryAcquire()).as("again").isTrue();
        assertThat(second.tryAcquire()).isFalse();
        assertThat(second.withLeaderLock(() -> {
                    throw new AssertionError("does not lead");
                }))
                .isFalse();
        assertThat(first.leads()).isTrue();
        assertThat(locks()).isOne();
        first.release();
        assertThat(locks()).isZero();
        assertThat(first.leads()).isFalse();
        assertThat(second.tryAcquire()).isTrue();
        assertThat(here.rowlock().advisoryLeader("other").key()).isNotEqualTo(first.key());
    }

    @Test
    void who_cannot_lead_keeps_no_session() throws Exception {
        first.tryAcquire();
        PGSimpleDataSource source = schema.dataSource();
        source.setApplicationName("no leader");
        AdvisoryLeader other = here.rowlock().advisoryLeader("scheduler", source::getConnection);
        assertThat(other.withLeaderLock(() -> {})).isFalse();
        assertThat(other.withLeaderSession(session -> {})).isFalse();
        soon().until(() ->
                schema.count("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'no leader'") == 0);
    }

    @Test
    void lock_of_a_unit_of_work_is_given_back_after_it_and_that_of_a_leader_kept() throws Exception {
        assertThat(first.withLeaderLock(() -> assertThat(locks()).isOne())).isTrue();
        assertThat(locks()).isZero();
        first.tryAcquire();
        assertThat(first.withLeaderLock(() -> {})).isTrue();
        assertThat(locks()).isOne();
        assertThatThrownBy(() -> first.withLeaderLock(() -> {
                    throw new IllegalStateException("no paper");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(first.leads()).isTrue();
    }

    @Test
    @Tag("B16")
    void leader_whose_session_was_killed_notices_in_time_and_stops() throws Exception {
        AtomicInteger lost = new AtomicInteger();
        first.onLost(lost::incrementAndGet);
        CountDownLatch working = new CountDownLatch(1);
        assertThatThrownBy(() -> first.withLeaderLock(() -> {
                    killLeader();
                    working.countDown();
                    Awaitility.await()
                            .atMost(AdvisoryLeader.NOTICED_WITHIN)
                            .until(() -> Thread.currentThread().isInterrupted() || !first.leads());
                }))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("session was lost");
        assertThat(first.leads()).isFalse();
        soon().untilAsserted(() -> assertThat(lost).hasValue(1));
        assertThat(here.events(LeaderSessionLost.class)).hasSize(1);
        assertThat(second.tryAcquire()).isTrue();
        assertThat(first.tryAcquire()).isFalse();
        second.release();
        assertThat(first.tryAcquire()).as("leads again when it can").isTrue();
        assertThat(lost).hasValue(1);
    }

    @Test
    @Tag("B16")
    void what_a_leader_of_before_writes_over_its_session_is_not_committed_beside_the_next() throws Exception {
        assertThat(first.withLeaderSession(session -> insert(session, 1))).isTrue();
        assertThatThrownBy(() -> first.withLeaderSession(session -> {
                    insert(session, 2);
                    killLeader();
                    assertThat(second.tryAcquire()).isTrue();
                }))
                .isInstanceOf(DatabaseException.class);
        assertThat(first.leads()).isFalse();
        assertThat(schema.list(Integer.class, "SELECT n FROM written")).containsExactly(1);
    }

    @Test
    void what_the_work_throws_rolls_back_and_costs_no_leadership() throws Exception {
        first.tryAcquire();
        assertThatThrownBy(() -> first.withLeaderSession(session -> {
                    insert(session, 1);
                    throw new IllegalStateException("no paper");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> first.withLeaderSession(session -> {
                    try (var statement = session.createStatement()) {
                        statement.execute("SELECT 1 / 0");
                    }
                }))
                .isInstanceOf(SQLException.class);
        assertThat(first.withLeaderSession(session -> insert(session, 2))).isTrue();
        assertThat(first.leads()).isTrue();
        assertThat(schema.list(Integer.class, "SELECT n FROM written")).containsExactly(2);
    }

    @Test
    void what_was_committed_over_the_session_is_told_as_done_though_another_thread_has_released_it() throws Exception {
        first.tryAcquire();
        boolean written = first.withLeaderSession(session -> {
            insert(session, 1);
            new Thread(first::release).start();
            while (first.leads()) {
                LockSupport.parkNanos(1_000_000); // is interrupted then
            }
        });
        assertThat(written).isTrue();
        assertThat(Thread.interrupted()).as("goes no further").isFalse();
        assertThat(schema.list(Integer.class, "SELECT n FROM written")).containsExactly(1);
        soon().until(() -> second.tryAcquire());
        assertThat(first.tryAcquire()).isFalse();
    }

    private static void insert(Connection connection, int n) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("INSERT INTO written VALUES (" + n + ")");
        }
    }

    @Test
    @Tag("B16")
    void leader_that_the_network_answers_nothing_knows_within_the_bound() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            AdvisoryLeader cutOff = here.rowlock().advisoryLeader("scheduler", proxy.dataSource(schema)::getConnection);
            assertThat(cutOff.tryAcquire()).isTrue();
            proxy.freeze();
            Awaitility.await()
                    .atMost(AdvisoryLeader.NOTICED_WITHIN.plusSeconds(1))
                    .until(() -> !cutOff.leads());
            proxy.cut();
            proxy.thaw();
            soon().until(() -> first.tryAcquire());
            cutOff.close();
        }
    }

    @Test
    void key_can_be_computed_in_sql_from_the_leaders_name() throws Exception {
        assertThat(schema.count(
                        "SELECT ('x' || substr(encode(sha256(convert_to(?, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint",
                        schema.name() + ".rowlock_leader:scheduler"))
                .isEqualTo(first.key());
    }

    @Test
    @Tag("P10")
    void health_tells_of_a_session_that_is_lost_until_a_new_one_answers() throws Exception {
        assertThat(first.tryAcquire()).isTrue();
        assertThat(here.rowlock().health().up()).isTrue();
        killLeader();
        soon().until(() -> !here.rowlock().health().up());
        assertThat(here.rowlock().health().leases().loops())
                .extracting(FailingLoop::loop)
                .containsExactly("leader-session-scheduler");
        assertThat(second.tryAcquire()).isTrue();

        assertThat(first.tryAcquire()).isFalse();
        assertThat(here.rowlock().health().up())
                .as("another leads, and that is known")
                .isTrue();
    }

    @Test
    @Tag("B22")
    void pooler_in_transaction_mode_is_refused_and_no_lock_is_left_behind() throws Exception {
        try (FakePooler pooler = new FakePooler(schema.dataSource(), 3)) {
            Rowlock pooled =
                    Rowlock.builder().connections(pooler).schema(schema.name()).build();
            assertThatThrownBy(() -> pooled.advisoryLeader("scheduler").tryAcquire())
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("pooler in transaction mode")
                    .hasMessageContaining("leader()");
            assertThat(locks()).isZero();
            AdvisoryLeader direct = pooled.advisoryLeader("scheduler", schema.dataSource()::getConnection);
            assertThat(direct.tryAcquire()).isTrue();
            direct.close();
        }
    }

    @Test
    @Tag("B22")
    void leases_and_their_leaders_work_through_such_a_pooler_and_leave_nothing_in_its_sessions() throws Exception {
        try (FakePooler pooler = new FakePooler(schema.dataSource(), 3)) {
            Rowlock pooled =
                    Rowlock.builder().connections(pooler).schema(schema.name()).build();
            Lease lease =
                    pooled.leases().tryTake("billing", Duration.ofSeconds(3)).orElseThrow();
            try (Connection connection = pooler.get()) {
                connection.setAutoCommit(false);
                lease.fence(connection);
                insert(connection, 1);
                connection.commit();
            }
            soon().until(() ->
                    schema.count("SELECT count(*) FROM rowlock_lease WHERE expires_at > taken_at + interval '6 s'")
                            == 1);
            assertThat(lease.isHeld()).isTrue();
            assertThat(here.rowlock().leases().tryTake("billing")).isEmpty();
            assertThat(lease.release()).isTrue();
            assertThat(pooled.leader()
                            .tryRun("billing", term -> assertThat(term.goesOn()).isTrue()))
                    .isTrue();
            pooled.leases().stop(Duration.ZERO);
            for (Connection session : pooler.sessions()) {
                try (var statement = session.createStatement();
                        var row = statement.executeQuery("SELECT current_setting('lock_timeout') || ' '"
                                + " || current_setting('idle_in_transaction_session_timeout')")) {
                    row.next();
                    assertThat(row.getString(1)).isEqualTo("0 0");
                }
            }
        }
    }
}
