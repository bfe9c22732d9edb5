package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobHandedBack;
import io.rowlock.job.JobOptions;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth.State;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers stop while their handlers run. */
@PostgresTest
@Tag("P6")
@Timeout(180)
final class StopIT {
    private static final Duration LONG = Duration.ofMinutes(2);

    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    StopIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    @Tag("B06")
    void stop_keeps_leases_alive_until_the_last_handler_has_ended() throws Exception {
        long job = scene.enqueue(Task.waiting("long"));
        Deeds first = scene.deeds("first");
        Worker stopping = scene.start(scene.rowlock(), first);
        scene.awaitStart("long", "first");
        scene.start(scene.rowlock(), scene.deeds("idle"));
        CompletableFuture<Void> stop = CompletableFuture.runAsync(() -> stopping.stop(LONG));
        patiently().until(() -> stopping.health().state() == State.STOPPING);

        outliveTwoLeases(job);
        long late = scene.enqueue(Task.quick("late"));
        scene.awaitState(late, "completed");
        first.openAll();
        patiently().until(stop::isDone);
        assertThat(stop).isCompleted();
        assertThat(scene.count("state = 'completed' AND attempts = 1 AND losses = 0"))
                .isEqualTo(2);
        assertThat(schema.list(String.class, "SELECT name || ' by ' || who FROM started ORDER BY at"))
                .containsExactly("long by first", "late by idle");
        assertThat(stopping.health().state()).isEqualTo(State.STOPPED);
    }

    @Test
    void claim_that_is_answered_after_the_stop_runs_nothing_and_is_handed_back() throws Exception {
        ExecutorService applications = Executors.newCachedThreadPool();
        try (FaultyConnections connections = new FaultyConnections(schema)) {
            connections.keepBack("claim");
            scene.enqueue(Task.quick("late"));
            Deeds handler = scene.deeds("worker");
            Worker worker = scene.start(
                    scene.rowlock(connections, heard),
                    settings -> settings.lease(LONG).executor(applications).handle(Task.class, handler));
            connections.awaitKeptBack();
            worker.stop(Duration.ZERO);
            assertThat(worker.health().state()).isEqualTo(State.STOPPED);
            assertThat(scene.count("locked_by = '" + worker.id() + "'")).isOne();

            connections.letGo();
            patiently().until(() -> scene.count("locked_by IS NULL") == 1);
        } finally {
            applications.shutdownNow();
        }
        assertThat(scene.count("state = 'ready' AND attempts = 0 AND losses = 0"))
                .isOne();
        assertThat(scene.starts("late")).isZero();
    }

    @Test
    @Tag("B06")
    void sigterm_keeps_leases_alive_until_the_last_handler_has_ended() throws Exception {
        long job = scene.enqueue(Task.waiting("long"));
        try (ChildJvm child = ChildWorker.launch(schema, "first", options -> options.graceAtExit(LONG))) {
            scene.awaitStart("long", "first");
            scene.start(scene.rowlock(heard), scene.deeds("idle"));
            child.terminate();
            outliveTwoLeases(job);
            long late = scene.enqueue(Task.quick("late"));
            scene.awaitState(late, "completed");
            assertThat(child.isAlive()).isTrue();
            child.send("open long");
            child.awaitExit(Scene.SOON);
        }
        assertThat(scene.count("state = 'completed' AND attempts = 1 AND losses = 0"))
                .isEqualTo(2);
        assertThat(schema.list(String.class, "SELECT name || ' by ' || who FROM started ORDER BY at"))
                .containsExactly("long by first", "late by idle");
    }

    @Test
    @Tag("B06")
    void jobs_that_outlast_the_grace_period_are_handed_back_and_run_at_once_by_another_worker() throws Exception {
        List<Long> jobs = scene.enqueueAll(List.of(Task.waiting("interruptible"), Task.stubborn("stubborn")));
        Deeds first = scene.deeds("first");
        Worker stopping = scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(Duration.ofHours(1)).handle(Task.class, first));
        scene.awaitStart("interruptible", "first");
        scene.awaitStart("stubborn", "first");
        Deeds second = scene.deeds("second");
        second.openAll();
        scene.start(scene.rowlock(), second);

        stopping.stop(Duration.ZERO);
        for (long job : jobs) {
            scene.awaitState(job, "completed");
            assertThat(scene.failures(job)).isEmpty();
        }
        assertThat(scene.count("state = 'completed' AND attempts = 1 AND losses = 0"))
                .isEqualTo(2);
        assertThat(schema.list(String.class, "SELECT who FROM ended")).containsExactly("second", "second");
        assertThat(heard.of(JobHandedBack.class)).hasSize(2);

        first.openAll();
        patiently().until(() -> schema.count("SELECT count(*) FROM ended WHERE who = 'first'") == 1);
        assertThat(scene.count("state = 'completed' AND attempts = 1")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "dedup", "ordering", "dedup ordering"})
    @Tag("B43")
    void five_redeploys_of_a_long_job_use_no_attempt_and_wait_for_no_backoff(String keys) throws Exception {
        Consumer<JobOptions> options = made -> {
            made.maxAttempts(2);
            if (keys.contains("dedup")) {
                made.dedupKey("unique");
            }
            if (keys.contains("ordering")) {
                made.orderingKey("ordered");
            }
        };
        long job = scene.enqueue(Task.waiting("long"), options);
        long behind = scene.enqueue(
                Task.quick("behind"), made -> made.orderingKey("ordered").after(Duration.ofMillis(1)));
        for (int deploy = 1; deploy <= 5; deploy++) {
            String who = "deploy-" + deploy;
            try (ChildJvm child = ChildWorker.launch(
                    schema, who, jvm -> jvm.graceAtExit(Duration.ofMillis(300)).lease(Duration.ofHours(1)))) {
                scene.awaitStart("long", who);
                assertThat(scene.number(job, "attempts")).isOne();
                child.terminate();
                assertThat(child.awaitExit(Scene.SOON)).isEqualTo(143);
            }
            assertThat(scene.count("id = " + job + " AND state = 'ready' AND locked_by IS NULL"
                            + " AND run_at <= clock_timestamp()"))
                    .isOne();
            assertThat(scene.number(job, "attempts")).isZero();
            if (keys.contains("dedup")) {
                assertThat(scene.enqueue(Task.waiting("long"), options))
                        .as("a duplicate")
                        .isEqualTo(job);
            }
            assertThat(scene.starts("behind")).isEqualTo(keys.contains("ordering") ? 0 : 1);
        }
        Deeds last = scene.deeds("last");
        last.openAll();
        scene.start(scene.rowlock(), last);
        scene.awaitState(job, "completed");
        scene.awaitState(behind, "completed");
        assertThat(scene.number(job, "attempts")).isOne();
        assertThat(scene.number(job, "losses")).isZero();
        assertThat(scene.failures(job)).isEmpty();
        assertThat(scene.starts("long")).isEqualTo(6);
    }

    @Test
    void jobs_claimed_ahead_are_handed_back_without_having_run() throws Exception {
        Deeds first = scene.deeds("first");
        Worker stopping = scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(Duration.ofHours(1)).queue("default", 1).handle(Task.class, first));
        for (int i = 0; i < 30; i++) {
            scene.enqueue(Task.quick("warm-up"));
        }
        scene.awaitAllDone();
        scene.enqueueAll(Collections.nCopies(20, Task.waiting("ahead")));
        scene.awaitStart("ahead", "first");
        patiently().until(() -> scene.count("locked_by IS NOT NULL") > 1);
        stopping.stop(Duration.ZERO);
        assertThat(scene.count("state = 'ready' AND locked_by IS NULL AND attempts = 0"))
                .isEqualTo(20);
        assertThat(scene.starts("ahead")).isOne();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("P10")
    void stop_ends_though_the_database_is_away_and_the_jobs_run_again_elsewhere(boolean silently) throws Exception {
        Deeds first = scene.deeds("first");
        first.openAll();
        List<Long> jobs = scene.enqueueAll(List.of(Task.stubborn("a"), Task.stubborn("b")));
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            CountDownLatch cutOff = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(jobs.size());
            Worker stopping = scene.start(
                    scene.rowlock(proxy.dataSource(schema)::getConnection, heard),
                    worker -> worker.lease(Scene.LEASE).handle(Task.class, (task, job) -> {
                        first.handle(task, job);
                        begun.countDown();
                        Deeds.awaitStubbornly(cutOff);
                    }));
            begun.await();
            if (silently) {
                proxy.freeze();
            } else {
                proxy.refuse();
                proxy.cut();
            }
            cutOff.countDown();
            stopping.stop(Duration.ofSeconds(1));
            assertThat(stopping.health().state()).isEqualTo(State.STOPPED);

            Deeds second = scene.deeds("second");
            second.openAll();
            scene.start(scene.rowlock(), second);
            scene.awaitAllDone();
        }
        assertThat(scene.count("state = 'completed' AND attempts = 2 AND losses = 1"))
                .isEqualTo(2);
        assertThat(schema.list(String.class, "SELECT who FROM ended ORDER BY who"))
                .containsExactly("first", "first", "second", "second");
    }

    @Test
    void second_stop_waits_for_the_first() throws Exception {
        long job = scene.enqueue(Task.waiting("long"));
        Deeds handler = scene.deeds("worker");
        Worker stopping = scene.start(scene.rowlock(), handler);
        scene.awaitStart("long", "worker");
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> stopping.stop(LONG));
        patiently().until(() -> stopping.health().state() == State.STOPPING);
        CompletableFuture<Void> second = CompletableFuture.runAsync(() -> stopping.stop(LONG));
        patiently().during(Duration.ofMillis(500)).until(() -> !second.isDone());
        handler.openAll();
        patiently().until(() -> first.isDone() && second.isDone());
        assertThat(scene.count("id = " + job + " AND state = 'completed'")).isOne();
    }

    private void outliveTwoLeases(long job) {
        patiently()
                .until(() -> schema.count(
                                "SELECT count(*) FROM rowlock_job j JOIN started s ON s.job_id = j.id WHERE j.id = ?"
                                        + " AND j.locked_until > s.at + interval '9 seconds'",
                                job)
                        == 1);
    }
}
