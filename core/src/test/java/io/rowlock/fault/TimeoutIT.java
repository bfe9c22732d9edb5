package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.JobTimedOut;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A handler takes longer than its timeout, ignores the interrupt and writes late. */
@PostgresTest
@Tag("P3")
@Tag("B12")
@Timeout(180)
final class TimeoutIT {
    private static final Duration LIMIT = Duration.ofSeconds(1);
    private static final Duration LEASE = Duration.ofSeconds(6);

    private final TestSchema schema;
    private final Heard heard = new Heard();
    private Scene scene;

    TimeoutIT(TestSchema schema) {
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
    void late_success_of_a_timed_out_attempt_does_not_overwrite_the_next_one() throws Exception {
        CompletableFuture<JobContext> late = new CompletableFuture<>();
        Deeds first = scene.deeds("first");
        Deeds second = scene.deeds("second");
        long job = scene.enqueue(Task.stubborn("slow"));
        Worker timesOut = scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(LEASE)
                        .queue("default", 1)
                        .handle(
                                Task.class,
                                (task, context) -> {
                                    late.complete(context);
                                    first.handle(task, context);
                                },
                                options -> options.retry(Scene.AT_ONCE).timeout(LIMIT)));
        scene.awaitStart("slow", "first");
        String oldLease = schema.one(String.class, "SELECT locked_until::text FROM rowlock_job")
                .orElseThrow();
        assertThat(late.join().cancelled()).isFalse();
        patiently()
                .until(() ->
                        heard.of(JobTimedOut.class).equals(List.of(new JobTimedOut(job, "default", "task", 1, LIMIT))));
        patiently().until(() -> scene.failures(job).equals(List.of("timed out")));
        assertThat(scene.count("locked_by IS NULL AND run_at >= '" + oldLease + "' AND token = 2"))
                .isOne();
        assertThat(late.join().cancelled()).isTrue();

        scene.start(scene.rowlock(), second);
        scene.awaitStart("slow", "second");
        assertThat(schema.count("SELECT count(*) FROM started WHERE attempt = 2 AND at >= ?::timestamptz", oldLease))
                .isOne();
        writesNothing(late.join());
        first.open("slow");
        patiently().until(() -> timesOut.health().running() == 0);
        assertThat(scene.count("state = 'ready' AND token = 3 AND attempts = 2"))
                .isOne();

        second.open("slow");
        scene.awaitState(job, "completed");
        assertThat(scene.failures(job)).containsExactly("timed out");
        assertThat(scene.number(job, "attempts")).isEqualTo(2);
        assertThat(schema.count("SELECT count(*) FROM effect")).isZero();
    }

    @Test
    void timeout_after_the_commit_leaves_a_connection_alone_that_is_the_pools_again() throws Exception {
        CompletableFuture<Boolean> usable = new CompletableFuture<>();
        TransactionRunner<Connection> lingering = work -> {
            try (Connection own = schema.begin()) {
                work.begun(own);
                work.handle(own);
                work.completing(own);
                own.commit();
                awaitInterrupt();
                usable.complete(own.isValid(10));
            }
        };
        long job = scene.enqueue(Task.quick("committed"));
        scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(Duration.ofMinutes(1))
                        .handleTransactionally(
                                JobKind.of(Task.class),
                                lingering,
                                (task, context, own) -> {},
                                options -> options.timeout(Duration.ofSeconds(3))));
        patiently().until(usable::isDone);
        assertThat(usable).isCompletedWithValue(true);
        assertThat(scene.count("id = " + job + " AND state = 'completed' AND attempts = 1"))
                .isOne();
    }

    @Test
    void thread_of_an_attempt_that_was_interrupted_is_given_back_without_an_interrupt() throws Exception {
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        scene.enqueue(Task.quick("slow"));
        scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(LEASE)
                        .executor(task -> new Thread(() -> {
                                    task.run();
                                    interrupted.complete(Thread.currentThread().isInterrupted());
                                })
                                .start())
                        .handle(Task.class, (task, context) -> awaitInterrupt(), options -> options.timeout(LIMIT)));
        patiently().until(interrupted::isDone);
        assertThat(interrupted).isCompletedWithValue(false);
    }

    /** Until its thread is interrupted, and leaves it so. */
    private static void awaitInterrupt() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
    }

    @Test
    void slot_of_a_timed_out_attempt_is_freed_once_and_only_when_its_thread_ends() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch gate = new CountDownLatch(1);
        Deeds handler = scene.deeds("worker");
        handler.openAll();
        long hanging = scene.enqueue(Task.quick("hanging"));
        Worker worker = scene.start(
                scene.rowlock(heard),
                settings -> settings.lease(Duration.ofSeconds(2))
                        .queue("default", 2)
                        .handle(
                                Task.class,
                                (task, job) -> {
                                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                                    handler.handle(task, job);
                                    if (task.name().equals("hanging") && job.attempt() == 1) {
                                        Deeds.awaitStubbornly(gate);
                                    }
                                    running.decrementAndGet();
                                },
                                options -> options.retry(Scene.AT_ONCE)
                                        .timeout(LIMIT)
                                        .concurrency(2)));
        scene.awaitState(hanging, "completed");
        assertThat(scene.number(hanging, "attempts")).isEqualTo(2);
        assertThat(worker.health().running()).isOne();
        scene.enqueueAll(Collections.nCopies(50, Task.quick("next")));
        scene.awaitAllDone();
        assertThat(most).hasValue(2);
        gate.countDown();
        patiently().until(() -> worker.health().running() == 0);
        scene.enqueueAll(Collections.nCopies(50, Task.quick("last")));
        scene.awaitAllDone();
        assertThat(most).hasValue(2);
    }

    @Test
    @Tag("P4")
    void transaction_of_a_timed_out_attempt_cannot_commit() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        long job = scene.enqueue(new Booking("slow"));
        scene.start(
                scene.rowlock(heard),
                worker -> worker.lease(Duration.ofSeconds(2))
                        .handleTransactionally(
                                Booking.class,
                                (booking, context, connection) -> {
                                    Booking.handler("worker").handle(booking, context, connection);
                                    if (context.attempt() == 1) {
                                        Deeds.awaitStubbornly(gate);
                                        ended.complete(null);
                                    }
                                },
                                options -> options.retry(Scene.AT_ONCE).timeout(LIMIT)));
        scene.awaitState(job, "completed");
        assertThat(scene.number(job, "attempts")).isEqualTo(2);
        gate.countDown();
        patiently().until(ended::isDone);
        assertThat(schema.list(Integer.class, "SELECT attempt FROM effect")).containsExactly(2);
        assertThat(scene.failures(job)).containsExactly("timed out");
    }

    @Test
    void policy_that_never_retries_timeouts_is_heeded() throws Exception {
        Deeds handler = scene.deeds("worker");
        long job = scene.enqueue(Task.waiting("slow"));
        scene.start(
                scene.rowlock(),
                worker -> worker.lease(LEASE)
                        .handle(
                                Task.class,
                                handler,
                                options -> options.timeout(LIMIT)
                                        .retry(RetryPolicy.fixed(Duration.ZERO).neverOn(TimeoutException.class))));
        scene.awaitState(job, "dead");
        assertThat(scene.failures(job)).containsExactly("timed out");
        assertThat(scene.starts("slow")).isOne();
    }

    /** By whatever door it tries. */
    private void writesNothing(JobContext late) throws SQLException {
        try (Connection transaction = schema.begin()) {
            assertThatThrownBy(() -> late.lockIn(transaction)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> late.completeIn(transaction)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> late.snoozeIn(transaction, Duration.ZERO)).isInstanceOf(LeaseLostException.class);
            transaction.commit();
        }
    }
}
