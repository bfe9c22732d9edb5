package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.alert.AlertLimits;
import io.rowlock.fixture.Grants;
import io.rowlock.job.JobContext;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.lease.PartitionMember;
import io.rowlock.lease.Term;
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Every loop of a worker, and those of leases, leaders and partitions, fail for a while, and when that is over each does its own
 * work again by itself. A slow network lets none of them fail for good, and each does its work over it.
 */
@Tag("P10")
@Tag("B41")
@Tag("B51")
@Timeout(300)
final class LoopsRecoverIT {
    private static final OwnPostgres SERVER = TestPostgres.embedded(PostgresOptions::durable);
    private static final String ROLE = "loops";
    private static final int POOL = 8; // three of the worker, two of the leases, some for handlers
    private static final int PARTS = 2;

    private static TestSchema schema;
    private static TcpProxy network;

    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final List<Connection> taken = new ArrayList<>();
    private volatile boolean exhausted;
    private HikariDataSource pool;
    private Scene scene;
    private Rowlock rowlock;
    private PartitionMember member;

    /** No worker knows it. */
    @Kind("nobodys")
    record Nobodys() {}

    /** What happens to the database. */
    enum Trouble {
        RESTART {
            @Override
            void begins(LoopsRecoverIT test) {
                SERVER.kill();
            }

            @Override
            void ends(LoopsRecoverIT test) {
                SERVER.start();
            }
        },
        RIGHTS_REVOKED {
            @Override
            void begins(LoopsRecoverIT test) throws Exception {
                schema.execute("REVOKE ALL ON ALL TABLES IN SCHEMA " + schema.name() + " FROM " + ROLE);
            }

            @Override
            void ends(LoopsRecoverIT test) throws Exception {
                schema.execute(Grants.of(test.scene.rowlock().schema(), ROLE));
            }
        },
        STATEMENTS_TIME_OUT {
            @Override
            void begins(LoopsRecoverIT test) throws Exception {
                Connection somebody = schema.begin();
                test.taken.add(somebody);
                String tables = String.join(
                        ", ",
                        schema.list(
                                String.class,
                                "SELECT relname FROM pg_class WHERE relnamespace = ?::regnamespace AND relkind = 'r'",
                                schema.name()));
                somebody.createStatement().execute("LOCK TABLE " + tables + " IN ACCESS EXCLUSIVE MODE");
            }

            @Override
            void ends(LoopsRecoverIT test) throws Exception {
                test.release();
            }
        },
        POOL_EXHAUSTED {
            @Override
            void begins(LoopsRecoverIT test) throws Exception {
                test.exhausted = true;
                terminateSessions();
            }

            @Override
            void ends(LoopsRecoverIT test) {
                test.exhausted = false;
            }
        },
        NETWORK_SWALLOWS_ALL {
            @Override
            void begins(LoopsRecoverIT test) {
                network.freeze();
            }

            @Override
            void ends(LoopsRecoverIT test) {
                network.thaw();
            }
        },
        NETWORK_RESETS_ALL {
            @Override
            void begins(LoopsRecoverIT test) {
                network.refuse();
                network.cut();
            }

            @Override
            void ends(LoopsRecoverIT test) {
                network.accept();
            }
        };

        abstract void begins(LoopsRecoverIT test) throws Exception;

        abstract void ends(LoopsRecoverIT test) throws Exception;
    }

    @BeforeAll
    static void createSchema() throws SQLException {
        schema = TestSchema.create(SERVER, "loops");
        network = TcpProxy.to(SERVER);
    }

    @AfterAll
    static void close() {
        network.close();
        SERVER.close();
    }

    @AfterEach
    void end() throws SQLException {
        gates.values().forEach(CountDownLatch::countDown);
        exhausted = false;
        release();
        network.thaw();
        network.accept();
        network.delay(Duration.ZERO);
        scene.close();
        rowlock.leases().stop(Duration.ofSeconds(5));
        pool.close();
    }

    @ParameterizedTest
    @EnumSource(Trouble.class)
    void each_does_its_work_again_by_itself(Trouble trouble) throws Exception {
        begin();
        long during = scene.enqueue(Task.waiting("ends during the trouble"));
        long held = scene.enqueue(Task.waiting("held through the trouble"));
        Worker worker = start();
        patiently()
                .until(() -> gates.keySet().containsAll(Set.of("ends during the trouble", "held through the trouble")));
        awaitLeases(0);

        trouble.begins(this);
        open("ends during the trouble");
        patiently()
                .until(() -> failing(worker.health().loops())
                        .containsAll(Set.of("claimer", "completer", "heartbeat", "pruner", "scheduler")));
        patiently()
                .until(() -> failing(rowlock.leases().health().loops())
                        .containsAll(Set.of("leader-billing", "partition-feed")));
        assertThat(worker.health().up()).isFalse();
        trouble.ends(this);

        assertAllWork(worker, during, held);
    }

    @Test
    void each_does_its_work_over_a_slow_network() throws Exception {
        begin();
        long during = scene.enqueue(Task.waiting("ends"));
        long held = scene.enqueue(Task.waiting("held"));
        network.delay(Duration.ofMillis(50));
        Worker worker = start();
        patiently().until(() -> gates.keySet().containsAll(Set.of("ends", "held")));
        open("ends");

        assertAllWork(worker, during, held);
    }

    private void begin() throws SQLException {
        if (!SERVER.isRunning()) {
            SERVER.start();
        }
        scene = Scene.empty(schema);
        schema.execute("TRUNCATE rowlock_lease, rowlock_lease_history, rowlock_partition_member");
        schema.execute("DO $$ BEGIN CREATE ROLE " + ROLE + " LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
        schema.execute(Grants.of(scene.rowlock().schema(), ROLE));
        pool = pool();
    }

    private void assertAllWork(Worker worker, long during, long held) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_idempotency_key (key, scope, principal, method, path, fingerprint, response, expires_at)"
                        + " VALUES ('old', sha256('x'), 'ada', 'POST', '/', 'f', '{}', clock_timestamp())");
        scene.enqueue(Task.quick("dies").then(Task.End.FAIL_FOR_GOOD));
        scene.enqueue(new Nobodys());
        long now = schema.count("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");

        awaitLife(
                "claimer, completer", "SELECT count(*) FROM rowlock_job WHERE state = 'completed' AND id = " + during);
        awaitLife(
                "heartbeat",
                "SELECT count(*) FROM rowlock_job WHERE id = " + held
                        + " AND locked_until > to_timestamp(" + now + " / 1000.0) + interval '" + Scene.LEASE.toMillis()
                        + " ms' + interval '1 s'");
        awaitLife(
                "scheduler",
                "SELECT count(*) FROM rowlock_job WHERE kind = 'ticked' AND state = 'completed' AND created_at > to_timestamp("
                        + now + " / 1000.0)");
        awaitLife("alert of a death", "SELECT count(*) FROM rowlock_alert WHERE cause = 'job dead'");
        awaitLife("watcher", "SELECT count(*) FROM rowlock_alert WHERE cause = 'unknown kind waiting'");
        patiently()
                .alias("delivery of alerts")
                .until(() -> told.containsAll(Set.of("job dead", "unknown kind waiting")));
        awaitLife("pruner", "SELECT 1 - count(*) FROM rowlock_idempotency_key");
        awaitLeases(now);
        patiently()
                .alias("health")
                .until(() -> worker.health().up() && rowlock.leases().health().up());
        gates.values().forEach(CountDownLatch::countDown);
        scene.awaitState(held, "completed");
    }

    /** The leader's and those of all parts are held, and were renewed after a time. */
    private void awaitLeases(long epochMillis) {
        awaitLife(
                "leader, partitions, renewal",
                "SELECT (count(*) = " + (1 + PARTS)
                        + ")::int::bigint FROM rowlock_lease WHERE holder IS NOT NULL AND expires_at > greatest("
                        + "taken_at + interval '1 s', to_timestamp(" + epochMillis + " / 1000.0)) + interval '"
                        + Scene.LEASE.toMillis() + " ms'");
        patiently().until(() -> member.parts().size() == PARTS);
    }

    private static void awaitLife(String loop, String count) {
        patiently().alias(loop).until(() -> schema.count(count) > 0);
    }

    private Worker start() {
        rowlock = Rowlock.builder()
                .connections(this::lent)
                .schema(schema.name())
                .alertSink("test", (alert, delivery) -> told.add(alert.cause()))
                .alertLimits(AlertLimits.standard().unknownKind(Duration.ofSeconds(1)))
                .build();
        rowlock.leader(Scene.LEASE).run("billing", LoopsRecoverIT::hold);
        member = rowlock.partitions(Scene.LEASE).join("feed", PARTS, LoopsRecoverIT::hold);
        return scene.start(
                rowlock,
                settings -> settings.lease(Scene.LEASE)
                        .handle(Task.class, this::handle, options -> options.retry(Scene.AT_ONCE))
                        .handle(Ticked.class, (tick, job) -> {})
                        .schedule(Schedule.fixedRate("ticks", Duration.ofSeconds(1))
                                .job(new Ticked())));
    }

    private static void hold(Term term) {
        while (term.goesOn()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private void handle(Task task, JobContext job) throws InterruptedException {
        if (task.waits() == Task.Waits.AT_GATE) {
            gates.computeIfAbsent(task.name(), name -> new CountDownLatch(1)).await();
        }
        if (task.end() == Task.End.FAIL_FOR_GOOD) {
            throw new PermanentFailure("as told");
        }
    }

    private void open(String gate) {
        gates.computeIfAbsent(gate, name -> new CountDownLatch(1)).countDown();
    }

    private static Set<String> failing(List<FailingLoop> loops) {
        return loops.stream().map(FailingLoop::loop).collect(Collectors.toSet());
    }

    private HikariDataSource pool() {
        PGSimpleDataSource source = network.dataSource(schema);
        source.setUser(ROLE);
        source.setApplicationName(ROLE);
        source.setOptions("-c statement_timeout=500ms");
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(POOL);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(500);
        return new HikariDataSource(config);
    }

    /** Where others have all connections, a pool answers so after a while. */
    private Connection lent() throws SQLException {
        if (exhausted) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(250));
            throw new SQLTransientConnectionException("no connection is available, the request timed out after 250 ms");
        }
        return pool.getConnection();
    }

    private static void terminateSessions() throws SQLException {
        schema.count("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = ?", ROLE);
    }

    private void release() throws SQLException {
        for (Connection each : taken) {
            each.close();
        }
        taken.clear();
    }
}
