package io.rowlock.key;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.DeadHead;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandlerConfig;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A job is taken from a handler that is at work on it, under a lease of an hour: the next of its key begins when that
 * handler has ended, neither before nor an hour later.
 */
@PostgresTest
@Tag("P11")
final class HeldKeyIT {
    @Kind("step")
    private record Step(String key, int no) {}

    private static final By ADA = new By("ada", "not wanted any more");
    private static final String HELD =
            "SELECT count(*) FROM rowlock_key WHERE ordering_key = 'a' AND held_until > clock_timestamp()";

    private final Log log = new Log();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;
    private int others;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        jobs = rowlock.rowlock().jobs();
    }

    @AfterEach
    void letAllGo() {
        gates.values().forEach(CountDownLatch::countDown);
    }

    @Test
    void the_next_begins_when_a_cancelled_handler_has_heeded_its_interrupt() throws Exception {
        gate("a0");
        List<Long> ids = enqueue("a", 3);
        try (Worker worker = steps(CountDownLatch::await, options -> {})) {
            soon().until(() -> log.isRunning("a", 0));

            assertThat(jobs.cancel(ids.get(0), ADA)).isEqualTo(Cancellation.REQUESTED);

            rowlock.awaitAllEnded();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(1, 2);
    }

    @Test
    void behind_a_handler_that_ignores_it_the_next_waits_until_that_one_ends() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 3);
        try (Worker worker = stubborn()) {
            soon().until(() -> log.isRunning("a", 0) && rowlock.count(JobState.PARKED) == 2);
            rowlock.rowlock().queues().pause("default", ADA); // so that nobody parks what should not be promoted

            assertThat(jobs.cancel(ids.get(0), ADA)).isEqualTo(Cancellation.REQUESTED);

            assertThat(rowlock.count(JobState.PARKED)).isEqualTo(2);
            rowlock.rowlock().queues().resume("default", ADA);
            assertHeldWhileOthersGoOn();
            assertThat(rowlock.count(JobState.PARKED)).isEqualTo(2);
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1, 2);
        assertThat(rowlock.state(ids.get(0))).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void a_follower_that_was_written_after_the_cancel_waits_too() throws Exception {
        CountDownLatch gate = gate("a0");
        long head = enqueue("a", 1).get(0);
        try (Worker worker = stubborn()) {
            cancelRunning(head);
            long next = enqueue("a", 1, 2).get(0);

            soon().until(() -> rowlock.state(next) == JobState.PARKED);
            assertHeldWhileOthersGoOn();
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1);
    }

    @Test
    void a_key_with_nothing_left_is_kept_while_it_is_held_and_dropped_then() throws Exception {
        CountDownLatch gate = gate("a0");
        long head = enqueue("a", 1).get(0);
        try (Worker worker = stubborn()) {
            cancelRunning(head);

            assertHeldWhileOthersGoOn();
            gate.countDown();
            rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_cancelled_job_that_is_revived_waits_for_its_own_old_handler() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 2);
        try (Worker worker = stubborn()) {
            cancelRunning(ids.get(0));
            assertThat(jobs.revive(ids.get(0), ADA)).isEqualTo(JobAnswer.DONE);

            assertHeldWhileOthersGoOn();
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 0, 1);
        assertThat(rowlock.state(ids.get(0))).isEqualTo(JobState.COMPLETED);
    }

    @Test
    @Tag("B12")
    void behind_a_job_that_died_by_a_timeout_the_next_waits_until_its_handler_ends() throws Exception {
        rowlock.rowlock().queues().deadHead("default", DeadHead.PASS, new By("ada", "followers need not wait"));
        CountDownLatch gate = gate("a0");
        long head = enqueue("a", 1).get(0);
        try (Worker worker = steps(
                HeldKeyIT::stubbornly,
                options -> options.timeout(Duration.ofSeconds(1))
                        .retry(RetryPolicy.fixed(Duration.ZERO).neverOn(TimeoutException.class)))) {
            rowlock.awaitState(head, JobState.DEAD);
            long next = enqueue("a", 1, 2).get(0);

            assertHeldWhileOthersGoOn();
            gate.countDown();
            rowlock.awaitState(next, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1);
    }

    @Test
    void of_a_run_whose_jobs_are_cancelled_none_frees_the_key_while_one_is_at_work() throws Exception {
        CountDownLatch gate = gate("a0");
        try (Worker worker = stubborn()) {
            List<Long> ids = aRun(5);

            assertThat(jobs.cancel(ids.get(1), ADA)).isEqualTo(Cancellation.REQUESTED);
            assertHeldWhileOthersGoOn();
            assertThat(jobs.cancel(ids.get(0), ADA)).isEqualTo(Cancellation.REQUESTED);
            assertThat(jobs.cancel(ids.get(2), ADA)).isEqualTo(Cancellation.REQUESTED);
            assertHeldWhileOthersGoOn();

            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 3, 4);
    }

    @Test
    void a_job_that_is_cancelled_while_it_waits_in_a_run_lets_those_behind_it_go_on_after_the_run() throws Exception {
        CountDownLatch gate = gate("a0");
        try (Worker worker = stubborn()) {
            List<Long> ids = aRun(4);
            assertThat(jobs.cancel(ids.get(1), ADA)).isEqualTo(Cancellation.REQUESTED);
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 2, 3);
    }

    @Test
    @Tag("P3")
    void a_worker_that_was_not_told_learns_it_when_it_records_and_the_next_begins_then() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 2);
        try (Worker worker = stubborn()) {
            soon().until(() -> log.isRunning("a", 0));
            try (Connection elsewhere = schema.begin()) {
                assertThat(jobs.in(elsewhere).cancel(ids.get(0), ADA)).isEqualTo(Cancellation.REQUESTED);
                elsewhere.commit();
            }
            assertHeldWhileOthersGoOn();
            gate.countDown();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1);
    }

    @Test
    void a_key_whose_row_is_locked_when_the_handler_ends_goes_on_once_it_is_free() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 2);
        try (Worker worker = stubborn();
                Connection other = schema.begin();
                Statement sql = other.createStatement()) {
            cancelRunning(ids.get(0));
            sql.execute("SELECT FROM rowlock_key WHERE ordering_key = 'a' FOR UPDATE");
            gate.countDown();
            soon().until(() -> worker.health().running() == 0);
            assertHeldWhileOthersGoOn();
            other.rollback();
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1);
    }

    @Test
    @Tag("P3")
    void the_hold_of_a_later_claim_is_left_alone_by_a_worker_that_comes_late() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 2);
        try (Worker worker = stubborn()) {
            cancelRunning(ids.get(0));
            schema.update("UPDATE rowlock_key SET held_token = held_token + 2 WHERE ordering_key = 'a'");
            gate.countDown();
            soon().until(() -> worker.health().running() == 0);

            assertHeldWhileOthersGoOn();
            schema.update("UPDATE rowlock_key SET held_until = clock_timestamp() WHERE ordering_key = 'a'");
            rowlock.awaitAllEnded(); // a hold that is over is none: the sweep finds the key
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(log.of("a")).containsExactly(0, 1);
    }

    @Test
    @Tag("B43")
    void a_worker_that_stops_has_freed_the_keys_of_handlers_that_ended() throws Exception {
        CountDownLatch gate = gate("a0");
        List<Long> ids = enqueue("a", 2);
        Worker worker = stubborn();
        soon().until(() -> log.isRunning("a", 0));
        assertThat(jobs.cancel(ids.get(0), ADA)).isEqualTo(Cancellation.REQUESTED);
        assertThat(schema.count(HELD)).isOne();
        Thread stopping = new Thread(() -> worker.stop(Duration.ofSeconds(30)));
        stopping.start();
        gate.countDown();
        stopping.join();

        assertThat(schema.count(HELD)).isZero();
        assertThat(rowlock.state(ids.get(1))).isEqualTo(JobState.READY);
    }

    @Test
    void a_worker_cranked_by_hand_goes_on_behind_a_job_that_cancelled_itself() throws Exception {
        enqueue("a", 2);
        try (var worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.lease(Duration.ofHours(1))
                        .handle(
                                Step.class,
                                (step, job) -> log.during(step.key(), step.no(), () -> {
                                    if (step.no() == 0) {
                                        assertThat(jobs.cancel(job.id(), ADA)).isEqualTo(Cancellation.REQUESTED);
                                    }
                                })))) {
            assertThat(worker.drain()).isEqualTo(2);
        }
        assertThat(log.of("a")).containsExactly(0, 1);
        assertThat(rowlock.count(JobState.CANCELLED)).isOne();
    }

    /** A job of another key is claimed, cancelled, ended, and the one behind it run: so the worker had its chance. */
    private void assertHeldWhileOthersGoOn() throws Exception {
        String key = "other-" + others++;
        CountDownLatch gate = gate(key + 0);
        List<Long> ids = enqueue(key, 2);
        soon().until(() -> log.isRunning(key, 0));
        jobs.cancel(ids.get(0), ADA);
        gate.countDown();
        soon().until(() -> log.of(key).equals(List.of(0, 1)));
        assertThat(schema.count(HELD)).isOne();
    }

    /** The head of key a, at which a handler is at work. */
    private void cancelRunning(long head) {
        soon().until(() -> log.isRunning("a", 0));
        assertThat(jobs.cancel(head, ADA)).isEqualTo(Cancellation.REQUESTED);
    }

    /** Claimed together, once handlers are known to be quick; the first is at work. */
    private List<Long> aRun(int n) throws Exception {
        List<Long> quick = new ArrayList<>(enqueue("quick", 50));
        soon().until(() -> log.of("quick").size() == quick.size());
        List<Long> ids = enqueue("a", n);
        soon().until(() -> log.isRunning("a", 0));
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE ordering_key = 'a' AND locked_by IS NOT NULL"))
                .isEqualTo(n);
        return ids;
    }

    private List<Long> enqueue(String key, int n) throws Exception {
        return enqueue(key, 0, n);
    }

    private List<Long> enqueue(String key, int from, int to) throws Exception {
        return rowlock
                .enqueueAll(
                        IntStream.range(from, to)
                                .mapToObj(no -> new Step(key, no))
                                .toList(),
                        options -> options.orderingKey(key))
                .stream()
                .map(Enqueued::id)
                .toList();
    }

    private CountDownLatch gate(String step) {
        return gates.computeIfAbsent(step, absent -> new CountDownLatch(1));
    }

    @FunctionalInterface
    private interface Wait {
        void at(CountDownLatch gate) throws InterruptedException;
    }

    private static void stubbornly(CountDownLatch gate) {
        boolean interrupted = true;
        while (interrupted) {
            try {
                gate.await();
                interrupted = false;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    private Worker stubborn() {
        return steps(HeldKeyIT::stubbornly, options -> {});
    }

    /** A worker with a lease of an hour that does steps, each waiting for its gate if it has one. */
    private Worker steps(Wait wait, Consumer<HandlerConfig> options) {
        return rowlock.work(config -> config.lease(Duration.ofHours(1))
                .handle(
                        Step.class,
                        (step, job) -> log.during(step.key(), step.no(), () -> {
                            CountDownLatch gate = gates.get(step.key() + step.no());
                            if (gate != null) {
                                wait.at(gate);
                            }
                        }),
                        options));
    }
}
