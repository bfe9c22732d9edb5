package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.fault.StallingTransactions.Point;
import io.rowlock.fault.Task.End;
import io.rowlock.job.JobContext;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker that was judged dead comes back and ends the job that another has by now. */
@PostgresTest
@Tag("P3")
@Tag("B02")
@Timeout(180)
final class LateWorkerIT {
    private final TestSchema schema;
    private Scene scene;

    LateWorkerIT(TestSchema schema) {
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

    @ParameterizedTest
    @EnumSource(names = {"RETURN", "THROW", "FAIL_FOR_GOOD", "SNOOZE"})
    void late_worker_cannot_end_a_job_it_lost_in_any_way(End end) throws Exception {
        Heard heard = new Heard();
        Deeds second = scene.deeds("second");
        long job = scene.enqueue(Task.stubborn("late").then(end, 1));
        try (ChildJvm first = ChildWorker.launch(schema, "first", options -> {})) {
            scene.awaitStart("late", "first");
            first.pause();
            Worker takesOver = scene.start(scene.rowlock(heard), second);
            scene.awaitStart("late", "second");

            first.send("open late");
            first.resume();
            first.awaitLine("event LeaseLost[id=" + job + ", queue=default, kind=task, attempt=1]", Scene.SOON);

            assertThat(owner(job)).isEqualTo(takesOver.id());
            assertThat(scene.number(job, "attempts")).isEqualTo(2);
            assertThat(scene.failures(job)).containsExactly("worker lost");
            assertThat(scene.alerts()).isZero();
            assertThat(heard.of(LeaseLost.class)).isEmpty();

            second.open("late");
            scene.awaitState(job, "completed");
            first.send("stop 0");
            first.awaitExit(Scene.SOON);
            assertThat(first.lines().stream().filter(line -> line.startsWith("event Lease")))
                    .hasSize(1);
            assertThat(first.lines().stream().filter(line -> line.startsWith("event Job")))
                    .isEmpty();
        }
        patiently()
                .until(() -> heard.of(JobCompleted.class).equals(List.of(new JobCompleted(job, "default", "task", 2))));
        assertThat(scene.starts("late")).isEqualTo(2);
        assertThat(scene.failures(job)).containsExactly("worker lost");
        assertThat(scene.number(job, "attempts")).isEqualTo(2);
        assertThat(scene.number(job, "losses")).isOne();
    }

    @Test
    void worker_whose_heartbeat_alone_is_blocked_loses_the_job_and_nothing_else() throws Exception {
        AtomicBoolean blocked = new AtomicBoolean(true);
        Heard heard = new Heard();
        Rowlock halfCut = scene.rowlock(
                () -> {
                    if (blocked.get() && beats(Thread.currentThread())) {
                        throw new SQLException("no heartbeat gets through", "08001");
                    }
                    return schema.dataSource().getConnection();
                },
                heard);
        Deeds first = scene.deeds("first");
        Deeds second = scene.deeds("second");
        long lost = scene.enqueue(Task.stubborn("lost"));
        Worker without = scene.start(
                halfCut, worker -> worker.lease(Scene.LEASE).queue("default", 1).handle(Task.class, first));
        scene.awaitStart("lost", "first");
        Worker takesOver = scene.start(scene.rowlock(), second);
        scene.awaitStart("lost", "second");
        assertThat(without.health().up()).isFalse();

        blocked.set(false);
        patiently().until(() -> heard.of(LeaseLost.class).equals(List.of(new LeaseLost(lost, "default", "task", 1))));
        patiently().until(() -> without.health().up());
        first.open("lost");
        patiently().until(() -> without.health().running() == 0);
        assertThat(owner(lost)).isEqualTo(takesOver.id());
        assertThat(scene.failures(lost)).containsExactly("worker lost");

        second.open("lost");
        scene.awaitState(lost, "completed");
        takesOver.stop(Duration.ZERO);
        long next = scene.enqueue(Task.quick("next"));
        scene.awaitState(next, "completed");
        assertThat(scene.starts("lost")).isEqualTo(2);
        assertThat(scene.number(lost, "attempts")).isEqualTo(2);
        assertThat(scene.alerts()).isZero();
        assertThat(heard.of(LeaseLost.class)).hasSize(1);
    }

    @Test
    @Tag("P4")
    void transaction_that_locked_its_job_in_time_may_commit_after_its_lease_and_nobody_takes_the_job()
            throws Exception {
        long job = scene.enqueue(new Booking("slow"));
        try (ChildJvm first = ChildWorker.launch(schema, "first", options -> options.stallAt(Point.COMPLETED))) {
            first.awaitLine("stalls COMPLETED", Scene.SOON);
            first.pause();
            scene.start(
                    scene.rowlock(),
                    worker -> worker.lease(Scene.LEASE)
                            .handleTransactionally(Booking.class, Booking.handler("second"))
                            .handle(Task.class, scene.deeds("second")));
            patiently()
                    .until(() -> scene.count("locked_until < clock_timestamp() - interval '3 seconds' AND id = " + job)
                            == 1);
            scene.awaitState(scene.enqueue(Task.quick("swept past")), "completed");
            assertThat(scene.number(job, "losses")).isZero();
            first.send("commit");
            first.resume();
            first.awaitLine("event JobCompleted[id=" + job, Scene.SOON);
        }
        scene.awaitState(job, "completed");
        assertThat(schema.list(String.class, "SELECT who FROM effect")).containsExactly("first");
        assertThat(scene.number(job, "attempts")).isOne();
        assertThat(scene.number(job, "losses")).isZero();
    }

    /** A handler that goes on after a standstill must not have to wait for a heartbeat to learn it. */
    @Test
    void handler_is_told_to_stop_when_its_lease_has_run_out_though_the_database_cannot_be_asked() throws Exception {
        AtomicReference<JobContext> context = new AtomicReference<>();
        Deeds handler = scene.deeds("worker");
        try (TcpProxy proxy = TcpProxy.to(schema.server())) {
            long job = scene.enqueue(Task.stubborn("cut off"));
            scene.start(
                    scene.rowlock(proxy.dataSource(schema)::getConnection),
                    worker -> worker.lease(Scene.LEASE).handle(Task.class, (task, running) -> {
                        context.set(running);
                        handler.handle(task, running);
                    }));
            scene.awaitStart("cut off", "worker");
            assertThat(context.get().cancelled()).isFalse();
            proxy.freeze();
            patiently().until(() -> context.get().cancelled());
            proxy.thaw();
            handler.openAll();
            scene.awaitState(job, "completed");
        }
    }

    @Test
    void handler_that_would_lock_a_job_it_lost_is_refused_before_any_heartbeat_has_told() throws Exception {
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        Deeds handler = scene.deeds("worker");
        long job = scene.enqueue(Task.waiting("taken"));
        Worker worker = scene.start(
                scene.rowlock(),
                settings -> settings.lease(Duration.ofHours(1)).handle(Task.class, (task, running) -> {
                    handler.handle(task, running);
                    try (Connection transaction = schema.begin()) {
                        running.lockIn(transaction);
                    } catch (RuntimeException e) {
                        refusal.set(e);
                        throw e;
                    }
                }));
        scene.awaitStart("taken", "worker");
        schema.update("UPDATE rowlock_job SET locked_by = 'other', token = token + 1");
        handler.openAll();
        patiently()
                .until(() -> worker.health().running() == 0 && worker.health().unrecorded() == 0);
        assertThat(refusal.get()).isInstanceOf(LeaseLostException.class);
        assertThat(scene.count("id = " + job + " AND locked_by = 'other' AND attempts = 1 AND token = 2"))
                .isOne();
        assertThat(scene.failures(job)).isEmpty();
    }

    /** The pruner shares the heartbeat's connection. */
    private static boolean beats(Thread thread) {
        return thread.getName().endsWith("-heartbeat") || thread.getName().endsWith("-pruner");
    }

    private String owner(long job) throws SQLException {
        return schema.one(String.class, "SELECT locked_by FROM rowlock_job WHERE id = ?", job)
                .orElse("nobody");
    }
}
