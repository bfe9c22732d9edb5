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
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Every loop of a worker fails for a while, and when that is over each does its own work again by itself. */
@Tag("P10")
@Tag("B41")
@Timeout(300)
final class LoopsRecoverIT {
    private static final OwnPostgres SERVER = TestPostgres.embedded(PostgresOptions::durable);
    private static final String ROLE = "loops";
    private static final int POOL = 5;

    private static TestSchema schema;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private final List<Connection> taken = new ArrayList<>();
    private HikariDataSource pool;
    private Scene scene;

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
                List<Future<Connection>> asked = new ArrayList<>();
                for (int i = 0; i < POOL; i++) {
                    asked.add(test.threads.submit(test::connection));
                }
                patiently().until(() -> {
                    terminateSessions();
                    return asked.stream().allMatch(Future::isDone);
                });
                for (Future<Connection> each : asked) {
                    test.taken.add(each.get());
                }
            }

            @Override
            void ends(LoopsRecoverIT test) throws Exception {
                test.release();
            }
        };

        abstract void begins(LoopsRecoverIT test) throws Exception;

        abstract void ends(LoopsRecoverIT test) throws Exception;
    }

    @BeforeAll
    static void createSchema() throws SQLException {
        schema = TestSchema.create(SERVER, "loops");
    }

    @AfterAll
    static void close() {
        SERVER.close();
    }

    @AfterEach
    void end() throws SQLException {
        gates.values().forEach(CountDownLatch::countDown);
        release();
        scene.close();
        pool.close();
        threads.shutdownNow();
    }

    @ParameterizedTest
    @EnumSource(Trouble.class)
    void each_does_its_work_again_by_itself(Trouble trouble) throws Exception {
        if (!SERVER.isRunning()) {
            SERVER.start();
        }
        scene = Scene.empty(schema);
        schema.execute("DO $$ BEGIN CREATE ROLE " + ROLE + " LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
        schema.execute(Grants.of(scene.rowlock().schema(), ROLE));
        pool = pool();
        long during = scene.enqueue(Task.waiting("ends during the trouble"));
        long held = scene.enqueue(Task.waiting("held through the trouble"));
        Worker worker = start();
        patiently()
                .until(() -> gates.keySet().containsAll(Set.of("ends during the trouble", "held through the trouble")));

        trouble.begins(this);
        open("ends during the trouble");
        patiently()
                .until(() -> failing(worker)
                        .containsAll(Set.of("claimer", "completer", "heartbeat", "pruner", "scheduler")));
        assertThat(worker.health().up()).isFalse();
        trouble.ends(this);

        assertRecovers(worker, during, held);
    }

    private void assertRecovers(Worker worker, long during, long held) throws SQLException {
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
        patiently().alias("health").until(() -> worker.health().up());
        open("held through the trouble");
        scene.awaitState(held, "completed");
    }

    private static void awaitLife(String loop, String count) {
        patiently().alias(loop).until(() -> schema.count(count) > 0);
    }

    private Worker start() {
        Rowlock rowlock = Rowlock.builder()
                .connections(this::lent)
                .schema(schema.name())
                .alertSink("test", (alert, delivery) -> told.add(alert.cause()))
                .alertLimits(AlertLimits.standard().unknownKind(Duration.ofSeconds(1)))
                .build();
        return scene.start(
                rowlock,
                settings -> settings.lease(Scene.LEASE)
                        .handle(Task.class, this::handle, options -> options.retry(Scene.AT_ONCE))
                        .handle(Ticked.class, (tick, job) -> {})
                        .schedule(Schedule.fixedRate("ticks", Duration.ofSeconds(1))
                                .job(new Ticked())));
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

    private static Set<String> failing(Worker worker) {
        return worker.health().loops().stream().map(FailingLoop::loop).collect(Collectors.toSet());
    }

    private HikariDataSource pool() {
        PGSimpleDataSource source = schema.dataSource();
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

    private Connection lent() throws SQLException {
        return pool.getConnection();
    }

    /** Asks again and again, as an application under load does. */
    private Connection connection() {
        while (true) {
            try {
                return pool.getConnection();
            } catch (SQLException later) {
                // some other waits before
            }
        }
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
