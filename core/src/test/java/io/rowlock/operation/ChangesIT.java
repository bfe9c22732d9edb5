package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs that are deleted, rescheduled or moved: what can be done is done once and kept, anything else changes nothing. */
@PostgresTest
final class ChangesIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "INC-7");
    private static final Instant TOMORROW = Instant.parse("2030-01-01T00:00:00Z");

    private final Queue<Integer> begun = new ConcurrentLinkedQueue<>();
    private final Queue<Integer> ended = new ConcurrentLinkedQueue<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        jobs = rowlock.rowlock().jobs();
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void a_finished_job_is_deleted_with_its_failures_and_others_are_not() throws Exception {
        long dead = rowlock.enqueue(new Step(-1)).id();
        try (Worker worker = work()) {
            rowlock.awaitState(dead, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        long waiting = rowlock.enqueue(new Step(1)).id();

        assertThat(jobs.delete(waiting, ADA)).isEqualTo(JobAnswer.UNFINISHED);
        assertThat(jobs.delete(4711, ADA)).isEqualTo(JobAnswer.UNKNOWN);
        assertThat(jobs.delete(dead, ADA)).isEqualTo(JobAnswer.DONE);
        assertThat(jobs.delete(dead, ADA)).isEqualTo(JobAnswer.UNKNOWN);

        assertThat(jobs.find(dead)).isEmpty();
        assertThat(jobs.failures(dead)).isEmpty();
        assertThat(rowlock.state(waiting)).isEqualTo(JobState.READY);
        assertThat(kept()).containsExactly("ada: INC-7: delete " + dead);
    }

    @Test
    @Tag("P11")
    void the_followers_of_a_dead_head_go_on_when_it_is_deleted() throws Exception {
        long head = rowlock.enqueue(new Step(-1), o -> o.orderingKey("a")).id();
        rowlock.enqueue(new Step(2), o -> o.orderingKey("a"));
        gate.countDown();
        try (Worker worker = work()) {
            rowlock.awaitState(head, JobState.DEAD);
            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_key WHERE blocked_by = " + head) == 1);
            assertThat(ended).isEmpty();

            assertThat(jobs.delete(head, ADA)).isEqualTo(JobAnswer.DONE);

            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(ended).containsExactly(2);
    }

    @Test
    void a_key_that_was_written_once_is_free_when_its_job_is_deleted() throws Exception {
        long first = once();
        assertThat(once()).isEqualTo(first);
        jobs.cancel(first, ADA);

        assertThat(jobs.delete(first, ADA)).isEqualTo(JobAnswer.DONE);

        assertThat(once()).isNotEqualTo(first);
    }

    private long once() throws Exception {
        return rowlock.enqueue(new Step(1), o -> o.dedupKey("a", DedupMode.ONCE))
                .id();
    }

    @Test
    @Tag("P7")
    void a_waiting_job_gets_another_time_and_the_past_is_now_by_the_databases_clock() throws Exception {
        long id = rowlock.enqueue(new Step(1), o -> o.after(Duration.ofDays(1))).id();

        assertThat(jobs.reschedule(id, TOMORROW, ADA)).isEqualTo(JobAnswer.DONE);
        assertThat(rowlock.job(id).progress().runAt()).isEqualTo(TOMORROW);

        assertThat(jobs.reschedule(id, Instant.EPOCH, ADA)).isEqualTo(JobAnswer.DONE);
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE run_at BETWEEN clock_timestamp() - interval '1 minute'"
                                + " AND clock_timestamp()"))
                .isEqualTo(1);
        assertThat(kept()).hasSize(2);
        assertThat(jobs.reschedule(4711, TOMORROW, ADA)).isEqualTo(JobAnswer.UNKNOWN);
        assertThatThrownBy(() -> jobs.reschedule(id, null, ADA)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> jobs.reschedule(id, Instant.MAX, ADA)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> jobs.reschedule(id, TOMORROW, null)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void a_job_that_is_brought_forward_runs_at_once_though_its_worker_polls_once_an_hour() throws Exception {
        gate.countDown();
        long id = rowlock.enqueue(new Step(1), o -> o.after(Duration.ofDays(1))).id();
        try (Worker worker =
                rowlock.start(w -> w.poll(Duration.ofHours(1)).handle(Step.class, (step, job) -> run(step)))) {
            assertThat(jobs.reschedule(id, Instant.EPOCH, ADA)).isEqualTo(JobAnswer.DONE);
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P3")
    void what_runs_or_is_finished_is_neither_rescheduled_nor_moved_nor_deleted() throws Exception {
        long id = rowlock.enqueue(new Step(1)).id();
        try (Worker worker = work()) {
            soon().until(() -> begun.contains(1));

            assertThat(jobs.reschedule(id, TOMORROW, ADA)).isEqualTo(JobAnswer.RUNNING);
            assertThat(jobs.move(id, "other", ADA)).isEqualTo(JobAnswer.RUNNING);
            assertThat(jobs.delete(id, ADA)).isEqualTo(JobAnswer.UNFINISHED);

            gate.countDown();
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(jobs.reschedule(id, TOMORROW, ADA)).isEqualTo(JobAnswer.FINISHED);
        assertThat(jobs.move(id, "other", ADA)).isEqualTo(JobAnswer.FINISHED);
        assertThat(jobs.move(4711, "other", ADA)).isEqualTo(JobAnswer.UNKNOWN);
        assertThat(rowlock.job(id).queue()).isEqualTo("default");
        assertThat(kept()).isEmpty();
    }

    @Test
    @Tag("P3")
    void of_a_claim_and_a_change_at_the_same_time_one_comes_first_and_the_other_knows_it() throws Exception {
        List<Long> ids = rowlock
                .enqueueAll(IntStream.range(0, 200).mapToObj(Step::new).toList())
                .stream()
                .map(Enqueued::id)
                .toList();
        gate.countDown();
        long moved = 0;
        long held = 0;
        try (Worker one = work();
                Worker two = work()) {
            for (long id : ids.subList(100, 200)) {
                JobAnswer answer = id % 2 == 0 ? jobs.move(id, "unserved", ADA) : jobs.reschedule(id, TOMORROW, ADA);
                assertThat(answer).isIn(JobAnswer.DONE, JobAnswer.RUNNING, JobAnswer.FINISHED);
                moved += answer == JobAnswer.DONE && id % 2 == 0 ? 1 : 0;
                held += answer == JobAnswer.DONE && id % 2 == 1 ? 1 : 0;
            }
            long left = moved + held;
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 200 - left);
            assertThat(one.health().up() && two.health().up()).isTrue();
        }
        assertThat(
                        schema.count(
                                "SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND queue = 'unserved' AND attempts = 0"))
                .isEqualTo(moved);
        assertThat(
                        schema.count(
                                "SELECT count(*) FROM rowlock_job WHERE state = 'ready' AND queue = 'default' AND attempts = 0"))
                .isEqualTo(held);
        assertThat(ended).doesNotHaveDuplicates().hasSize((int) (200 - moved - held));
    }

    @Test
    @Tag("P11")
    void a_head_with_another_time_holds_back_its_followers_until_then() throws Exception {
        List<Long> ids = keyed(3);
        assertThat(jobs.reschedule(ids.get(0), TOMORROW, ADA)).isEqualTo(JobAnswer.DONE);
        assertThat(jobs.reschedule(ids.get(1), Instant.EPOCH, ADA)).isEqualTo(JobAnswer.DONE);
        long other = rowlock.enqueue(new Step(9)).id();
        gate.countDown();
        try (Worker worker = work()) {
            rowlock.awaitState(other, JobState.COMPLETED);
            soon().until(() -> rowlock.count(JobState.PARKED) == 2);
            assertThat(jobs.reschedule(ids.get(2), Instant.EPOCH, ADA)).isEqualTo(JobAnswer.DONE);
            assertThat(ended).containsExactly(9);

            assertThat(jobs.reschedule(ids.get(0), Instant.EPOCH, ADA)).isEqualTo(JobAnswer.DONE);

            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(ended).containsExactly(9, 0, 1, 2);
    }

    @Test
    void a_moved_job_takes_its_dedup_key_and_time_with_it() throws Exception {
        long id =
                rowlock.enqueue(new Step(1), o -> o.dedupKey("a").at(TOMORROW)).id();

        assertThat(jobs.move(id, "other", ADA)).isEqualTo(JobAnswer.DONE);

        assertThat(rowlock.job(id).queue()).isEqualTo("other");
        assertThat(rowlock.job(id).progress().runAt()).isEqualTo(TOMORROW);
        assertThat(rowlock.enqueue(new Step(2), o -> o.dedupKey("a")).id()).isEqualTo(id);
        assertThat(kept()).containsExactly("ada: INC-7: move " + id);
        assertThatThrownBy(() -> jobs.move(id, " ", ADA)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    @Tag("P11")
    void a_moved_head_lets_its_followers_go_on_and_a_moved_follower_finds_its_place() throws Exception {
        rowlock.rowlock().queues().pause("other", ADA);
        List<Long> ids = keyed(4);
        assertThat(jobs.move(ids.get(0), "other", ADA)).isEqualTo(JobAnswer.DONE);
        assertThat(jobs.move(ids.get(2), "other", ADA)).isEqualTo(JobAnswer.DONE);
        gate.countDown();
        try (Worker worker = work()) {
            rowlock.awaitState(ids.get(3), JobState.COMPLETED);
            assertThat(ended).containsExactly(1, 3);

            rowlock.rowlock().queues().resume("other", ADA);
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(ended).containsExactly(1, 3, 0, 2);
    }

    @Test
    @Tag("P11")
    void followers_of_a_running_head_that_are_moved_to_and_fro_run_one_at_a_time_and_once() throws Exception {
        List<Long> ids = keyed(30);
        Queue<String> overlaps = new ConcurrentLinkedQueue<>();
        Queue<Integer> runs = new ConcurrentLinkedQueue<>();
        Map<String, Semaphore> one = Map.of("default", new Semaphore(1), "other", new Semaphore(1));
        Future<Void> moving = threads.submit(() -> {
            for (int round = 0; round < 6; round++) {
                for (long id : ids) {
                    jobs.move(id, (id + round) % 2 == 0 ? "other" : "default", ADA);
                }
            }
            return null;
        });
        try (Worker first = keyedWorker(one, overlaps, runs);
                Worker second = keyedWorker(one, overlaps, runs)) {
            moving.get();
            rowlock.awaitAllEnded();
            assertThat(first.health().up() && second.health().up()).isTrue();
        }
        assertThat(overlaps).isEmpty();
        assertThat(runs).doesNotHaveDuplicates().hasSize(30);
    }

    private Worker keyedWorker(Map<String, Semaphore> one, Queue<String> overlaps, Queue<Integer> runs) {
        return rowlock.work(w -> w.queue("default", 4).queue("other", 4).handle(Step.class, (step, job) -> {
            Semaphore turn = one.get(rowlock.job(job.id()).queue());
            if (!turn.tryAcquire()) {
                overlaps.add("job " + job.id());
                return;
            }
            runs.add(step.no());
            turn.release();
        }));
    }

    @Test
    void a_job_that_waits_for_a_full_limit_is_moved_out_of_it() throws Exception {
        rowlock.rowlock().queues().limit("default", QueueLimits.none().runningPerKey(1), ADA);
        long first = rowlock.enqueue(new Step(1), o -> o.limitKey("t")).id();
        try (Worker worker = work()) {
            soon().until(() -> begun.contains(1));
            long second = rowlock.enqueue(new Step(2), o -> o.limitKey("t")).id();
            soon().until(() -> rowlock.state(second) == JobState.PARKED);

            assertThat(jobs.move(second, "other", ADA)).isEqualTo(JobAnswer.DONE);

            soon().until(() -> begun.contains(2));
            gate.countDown();
            rowlock.awaitState(first, JobState.COMPLETED);
            rowlock.awaitState(second, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P1")
    void a_change_in_the_callers_transaction_holds_if_and_only_if_that_one_commits() throws Exception {
        List<Long> ids = keyed(2);
        long cancelled = rowlock.enqueue(new Step(7)).id();
        jobs.cancel(cancelled, ADA);
        for (boolean commit : List.of(false, true)) {
            try (Connection connection = schema.begin()) {
                Jobs in = jobs.in(connection);
                assertThat(in.move(ids.get(0), "other", ADA)).isEqualTo(JobAnswer.DONE);
                assertThat(in.reschedule(ids.get(1), TOMORROW, ADA)).isEqualTo(JobAnswer.DONE);
                assertThat(in.delete(cancelled, ADA)).isEqualTo(JobAnswer.DONE);
                if (commit) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
            }
            assertThat(rowlock.job(ids.get(0)).queue()).isEqualTo(commit ? "other" : "default");
            assertThat(jobs.find(cancelled).isPresent()).isEqualTo(!commit);
            assertThat(kept()).hasSize(commit ? 3 : 0);
        }
        try (Connection connection = schema.connect()) {
            assertThatThrownBy(() -> jobs.in(connection).move(ids.get(0), "x", ADA))
                    .isInstanceOf(InvalidUseException.class);
        }
    }

    @Test
    @Tag("P1")
    void a_connection_that_is_lost_before_the_commit_leaves_nothing() throws Exception {
        long id = rowlock.enqueue(new Step(1), o -> o.at(TOMORROW)).id();
        schema.execute("CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;"
                + "CREATE TRIGGER die AFTER INSERT ON rowlock_operation FOR EACH ROW EXECUTE FUNCTION die()");
        try {
            assertThatThrownBy(() -> jobs.move(id, "other", ADA)).isInstanceOf(DatabaseException.class);
            assertThatThrownBy(() -> jobs.reschedule(id, Instant.EPOCH, ADA)).isInstanceOf(DatabaseException.class);
        } finally {
            schema.execute("DROP TRIGGER die ON rowlock_operation; DROP FUNCTION die()");
        }
        assertThat(rowlock.job(id).queue()).isEqualTo("default");
        assertThat(rowlock.job(id).progress().runAt()).isEqualTo(TOMORROW);
        assertThat(kept()).isEmpty();
        assertThat(jobs.move(id, "other", ADA)).isEqualTo(JobAnswer.DONE);
    }

    private List<Long> keyed(int n) throws Exception {
        return rowlock
                .enqueueAll(IntStream.range(0, n).mapToObj(Step::new).toList(), options -> options.orderingKey("a"))
                .stream()
                .map(Enqueued::id)
                .toList();
    }

    private List<String> kept() throws Exception {
        return schema.list(
                String.class,
                "SELECT who || ': ' || why || ': ' || what || ' ' || job_id FROM rowlock_operation"
                        + " WHERE what <> 'cancel' ORDER BY id");
    }

    /** Steps below zero die at once; others wait for the gate. */
    private Worker work() {
        return rowlock.work(w -> w.queue("default", 4)
                .queue("other", 4)
                .handle(
                        Step.class,
                        (step, job) -> run(step),
                        h -> h.retry(RetryPolicy.standard().maxAttempts(1))));
    }

    private void run(Step step) throws InterruptedException {
        begun.add(step.no());
        if (step.no() < 0) {
            throw new IllegalStateException("as told");
        }
        gate.await();
        ended.add(step.no());
    }
}
