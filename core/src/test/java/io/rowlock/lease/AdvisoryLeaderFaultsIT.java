package io.rowlock.lease;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.fixture.FakePooler;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nobody is told to lead who does not, and no thread that does not lead is touched. */
@PostgresTest
@Timeout(120)
final class AdvisoryLeaderFaultsIT {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch never = new CountDownLatch(1);
    private final TestSchema schema;
    private TestRowlock here;
    private AdvisoryLeader first;
    private AdvisoryLeader second;

    AdvisoryLeaderFaultsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        here = TestRowlock.fresh(schema);
        first = here.rowlock().advisoryLeader("scheduler");
        second = TestRowlock.beside(schema).rowlock().advisoryLeader("scheduler");
    }

    @AfterEach
    void end() {
        never.countDown();
        threads.shutdownNow();
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
        soon().until(() -> locks() == 0);
    }

    @Test
    @Tag("B16")
    @Tag("B51")
    void nobody_leads_by_a_lock_of_a_standby() throws Exception {
        try (OwnPostgres primary = TestPostgres.embedded(PostgresOptions::durable)) {
            TestSchema onPrimary = TestSchema.create(primary, "standby_leader");
            AdvisoryLeader leader = TestRowlock.fresh(onPrimary).rowlock().advisoryLeader("x");
            try (OwnPostgres standby = primary.synchronousStandby()) {
                TestSchema onStandby = TestSchema.existing(standby, onPrimary.name());
                AdvisoryLeader demoted = TestRowlock.beside(onStandby).rowlock().advisoryLeader("x");
                assertThat(leader.tryAcquire()).isTrue();
                assertThatThrownBy(demoted::tryAcquire)
                        .isInstanceOfSatisfying(
                                DatabaseException.class,
                                refused -> assertThat(refused.sqlState()).isEqualTo("25006"));
                assertThat(demoted.leads()).isFalse();
                assertThat(onStandby.count("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                        .isZero();
                demoted.close();
            }
            leader.close();
        }
    }

    @Test
    void a_thread_that_finds_the_loss_by_asking_is_not_interrupted() throws Exception {
        assertThat(first.tryAcquire()).isTrue();
        killLeader();
        assertThat(first.withLeaderLock(
                        () -> assertThat(Thread.currentThread().isInterrupted()).isFalse()))
                .isTrue();
        assertThat(Thread.interrupted()).isFalse();
        soon().until(() -> here.events(LeaderSessionLost.class).size() == 1);
        assertThat(first.leads()).as("it did not lead before that").isFalse();
        assertThat(locks()).isZero();
    }

    @Test
    @Tag("B16")
    void one_who_leads_again_after_a_loss_notices_the_next_one_in_time() throws Exception {
        for (int losses = 0; losses < 2; losses++) {
            assertThat(first.tryAcquire()).isTrue();
            killLeader();
            Awaitility.await()
                    .atMost(AdvisoryLeader.NOTICED_WITHIN.plusSeconds(1))
                    .until(() -> !first.leads());
        }
    }

    @Test
    void an_interrupt_of_the_caller_stays() throws Exception {
        Thread.currentThread().interrupt();
        assertThatThrownBy(first::tryAcquire).isInstanceOf(DatabaseException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(first.tryAcquire()).isTrue();
    }

    @Test
    void the_end_of_work_takes_no_lock_from_one_who_has_acquired_it_meanwhile() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        AtomicInteger done = new AtomicInteger();
        Future<?> other = threads.submit(() -> {
            while (!stopped.get()) {
                first.withLeaderLock(done::incrementAndGet);
            }
            return null;
        });
        try {
            for (int round = 0; round < 30; round++) {
                assertThat(first.tryAcquire()).isTrue();
                int before = done.get();
                soon().until(() -> other.isDone() || done.get() > before + 1);
                assertThat(first.leads()).isTrue();
                first.release();
            }
        } finally {
            stopped.set(true);
            other.get();
        }
        assertThat(locks()).isZero();
    }

    @Test
    void a_release_keeps_the_lock_until_the_work_under_it_has_ended() throws Exception {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        Future<Boolean> work = threads.submit(() -> first.withLeaderLock(() -> {
            working.countDown();
            ends.await();
        }));
        working.await();
        first.release();
        assertThat(first.leads()).isFalse();
        assertThat(second.tryAcquire()).isFalse();
        ends.countDown();
        assertThat(work.get()).as("it led to its end").isTrue();
        soon().until(second::tryAcquire);
    }

    @Test
    void a_second_connection_that_answers_nothing_is_not_waited_for() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            AtomicInteger asked = new AtomicInteger();
            AdvisoryLeader half = here.rowlock().advisoryLeader("scheduler", () -> {
                if (asked.incrementAndGet() % 2 == 1) {
                    return schema.connect();
                }
                Connection beside = proxy.dataSource(schema).getConnection();
                proxy.freeze();
                return beside;
            });
            assertThatThrownBy(half::tryAcquire)
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("takes a second connection");
            assertThat(locks()).isZero();
        }
    }

    @Test
    void a_stop_does_not_wait_for_one_who_asks() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        AdvisoryLeader hung = here.rowlock().advisoryLeader("scheduler", () -> hanging(schema.connect(), hanging));
        Future<Boolean> asks = threads.submit(hung::tryAcquire);
        hanging.await();

        assertThat(here.rowlock().leases().stop(Duration.ZERO)).isTrue();
        assertThat(asks).isNotDone();
        never.countDown();
        assertThat(asks.get()).as("it was released since").isFalse();
        assertThat(locks()).isZero();
        assertThat(hung.tryAcquire()).isTrue();
        hung.close();
    }

    /** No answer comes, as from a driver without timeouts. */
    private Connection hanging(Connection real, CountDownLatch begun) {
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")) {
                        begun.countDown();
                        never.await();
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    @Tag("B22")
    void a_pool_of_one_in_which_no_pooler_can_be_seen_is_refused() throws Exception {
        try (FakePooler pooler = new FakePooler(schema.dataSource(), 3)) {
            Semaphore one = new Semaphore(1);
            AdvisoryLeader blind = here.rowlock().advisoryLeader("scheduler", () -> {
                if (!one.tryAcquire()) {
                    throw new SQLException("the pool is exhausted", "08001");
                }
                return pooler.get();
            });
            assertThatThrownBy(blind::tryAcquire)
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("pooler in transaction mode")
                    .hasMessageContaining("takes a second connection beside the first");
            assertThat(blind.leads()).isFalse();
            assertThat(locks()).isZero();
        }
    }
}
