package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockListener;
import io.rowlock.fault.Task.End;
import io.rowlock.fixture.Grants;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** The database has a bad minute while jobs flow. */
@Tag("P10")
@Tag("B41")
@Timeout(180)
final class DatabaseTroubleIT {
    private static final OwnPostgres SERVER = TestPostgres.embedded(PostgresOptions::durable);

    private static final int EACH = 20;

    private static TestSchema schema;

    private final Heard heard = new Heard();
    private Scene scene;
    private Deeds handler;
    private List<Long> jobs;

    @BeforeAll
    static void createSchema() throws SQLException {
        schema = TestSchema.create(SERVER, "trouble");
    }

    @AfterAll
    static void close() {
        SERVER.close();
    }

    @BeforeEach
    void begin() throws SQLException {
        if (!SERVER.isRunning()) {
            SERVER.start();
        }
        scene = Scene.empty(schema);
        handler = scene.deeds("worker");
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            tasks.add(Task.quick("returns"));
            tasks.add(Task.quick("throws once").then(End.THROW, 1));
            tasks.add(Task.quick("fails").then(End.FAIL_FOR_GOOD));
        }
        tasks.add(0, Task.waiting("long"));
        jobs = scene.enqueueAll(tasks);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void crash_and_restart_of_the_server() throws Exception {
        Worker worker = start(schema.dataSource());
        scene.awaitStart("long", "worker");
        SERVER.kill();
        awaitTrouble(worker, "claimer");
        SERVER.start();
        assertRecovers(worker);
    }

    @Test
    void every_backend_is_terminated_again_and_again() throws Exception {
        Worker worker = start(schema.dataSource());
        scene.awaitStart("long", "worker");
        for (int i = 0; i < 5; i++) {
            terminateAll();
            scene.awaitState(scene.enqueue(Task.quick("between")), "completed");
        }
        assertThat(heard.of(RowlockEvent.LoopFailed.class)).isNotEmpty();
        assertRecovers(worker);
    }

    @Test
    void rights_are_revoked_for_a_while() throws Exception {
        PGSimpleDataSource asApplication = application();
        Worker worker = start(asApplication);
        scene.awaitStart("long", "worker");
        schema.execute("REVOKE ALL ON ALL TABLES IN SCHEMA " + schema.name() + " FROM application");
        awaitTrouble(worker, "claimer");
        awaitTrouble(worker, "heartbeat");
        assertThat(worker.health().loops())
                .extracting(FailingLoop::reason)
                .allMatch(reason -> reason.contains("denied"));
        grant();
        assertRecovers(worker);
    }

    @Test
    void statements_time_out_for_a_while() throws Exception {
        PGSimpleDataSource impatient = schema.dataSource();
        impatient.setOptions("-c statement_timeout=300ms");
        Worker worker = start(impatient);
        scene.awaitStart("long", "worker");
        try (Connection somebody = schema.begin();
                Statement statement = somebody.createStatement()) {
            statement.execute("LOCK TABLE rowlock_job IN ACCESS EXCLUSIVE MODE");
            awaitTrouble(worker, "claimer");
            awaitTrouble(worker, "heartbeat");
            somebody.rollback();
        }
        assertRecovers(worker);
    }

    @Test
    void listener_throws_errors_at_every_event() throws Exception {
        AtomicInteger told = new AtomicInteger();
        RowlockListener broken = event -> {
            told.incrementAndGet();
            throw new NoClassDefFoundError("of the listener");
        };
        Worker worker = scene.start(
                scene.rowlock(schema.dataSource()::getConnection, broken, heard),
                settings -> settings.lease(Scene.LEASE)
                        .handle(Task.class, handler, options -> options.retry(Scene.AT_ONCE)));
        scene.awaitStart("long", "worker");
        terminateAll();
        assertRecovers(worker);
        assertThat(told.get()).isGreaterThanOrEqualTo(jobs.size());
        assertThat(heard.of(RowlockEvent.class)).hasSizeGreaterThanOrEqualTo(jobs.size());
    }

    private Worker start(PGSimpleDataSource source) {
        return scene.start(
                scene.rowlock(source::getConnection, heard),
                settings -> settings.lease(Scene.LEASE)
                        .queue("default", 2)
                        .handle(Task.class, handler, options -> options.retry(Scene.AT_ONCE)));
    }

    private static void awaitTrouble(Worker worker, String loop) {
        patiently()
                .until(() -> worker.health().loops().stream()
                        .anyMatch(failing -> failing.loop().equals(loop)));
        assertThat(worker.health().up()).isFalse();
    }

    /** Health is good again, no loop's thread has ended, every job ends by itself and is accounted for. */
    private void assertRecovers(Worker worker) throws SQLException {
        handler.openAll();
        scene.awaitAllDone();
        patiently().until(() -> worker.health().up());
        assertThat(loopsOf(worker))
                .containsExactlyInAnyOrder("claimer", "completer", "heartbeat", "pruner", "scheduler");
        assertThat(scene.count("payload ->> 'name' = 'fails' AND state = 'dead'"))
                .isEqualTo(EACH);
        assertThat(scene.count("payload ->> 'name' <> 'fails' AND state <> 'completed'"))
                .isZero();
        assertThat(schema.list(Long.class, "SELECT DISTINCT job_id FROM started ORDER BY 1"))
                .containsAll(jobs);
        assertThat(scene.count(
                        "attempts <> (SELECT count(*) FROM rowlock_job_failure f WHERE f.job_id = rowlock_job.id)"
                                + " + CASE state WHEN 'completed' THEN 1 ELSE 0 END"))
                .isZero();
        assertThat(scene.alerts()).isEqualTo(EACH);
    }

    private static Set<String> loopsOf(Worker worker) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith(worker.id() + "-") && !name.contains("-handler-"))
                .map(name -> name.substring(worker.id().length() + 1))
                .collect(Collectors.toSet());
    }

    /** The handler notes over a session of its own, which ends too: that attempt then fails, and is tried again. */
    private void terminateAll() throws SQLException {
        schema.count(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = ?"
                        + " AND pid <> pg_backend_pid()",
                schema.name());
    }

    private PGSimpleDataSource application() throws SQLException {
        schema.execute("DO $$ BEGIN CREATE ROLE application LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
        grant();
        PGSimpleDataSource source = schema.dataSource();
        source.setUser("application");
        return source;
    }

    private void grant() throws SQLException {
        schema.execute(Grants.of(scene.rowlock().schema(), "application"));
    }
}
