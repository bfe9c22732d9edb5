package io.rowlock.dedup;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of the dedup key of a job with an ordering key that was started and waits again. */
@PostgresTest
@Tag("P11")
@Tag("P2")
final class OrderedRetakeIT {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final By ADA = new By("ada", "looked at it");

    @Kind("step")
    private record Step(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;
    private final List<Integer> done = new ArrayList<>();

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    private Enqueued step(int no, Consumer<JobOptions> options) throws Exception {
        return rowlock.enqueue(new Step(no), options);
    }

    private Enqueued unique(int no, DedupMode mode) throws Exception {
        return step(no, o -> o.orderingKey("a").dedupKey("d", mode));
    }

    private Enqueued follower(int no) throws Exception {
        return step(no, o -> o.orderingKey("a"));
    }

    private static void fail() {
        throw new IllegalStateException("not yet");
    }

    /** Runs one job, and gives its key back. */
    private void run(JobHandler<Step> handler) {
        try (HandCrankedWorker worker = crank(handler)) {
            assertThat(worker.runNext()).isTrue();
        }
    }

    private HandCrankedWorker crank(JobHandler<Step> handler) {
        return rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(Step.class, handler, h -> h.retry(RetryPolicy.fixed(HOUR))));
    }

    /** Makes all due and runs them; what they did is in {@link #done}. */
    private void runAll() throws Exception {
        schema.update("UPDATE rowlock_job SET run_at = clock_timestamp() WHERE state IN ('ready', 'parked')");
        try (HandCrankedWorker worker = crank((step, job) -> done.add(step.no()))) {
            worker.drain();
        }
        assertThat(rowlock.count(JobState.READY) + rowlock.count(JobState.PARKED))
                .isZero();
        rowlock.awaitZero("SELECT count(*) FROM rowlock_key");
    }

    private long holder() throws Exception {
        return schema.list(Long.class, "SELECT id FROM rowlock_job WHERE waiting_key = 'd'").stream()
                .findFirst()
                .orElse(0L);
    }

    private void assertCancelled(long id, long into) {
        assertThat(rowlock.state(id)).isEqualTo(JobState.CANCELLED);
        assertThat(rowlock.job(id).progress().lastError()).isEqualTo("duplicate of " + into);
        assertThat(rowlock.events(JobMerged.class)).containsExactly(new JobMerged(id, "default", "step", into));
    }

    @ParameterizedTest
    @EnumSource(
            value = DedupMode.class,
            names = {"KEEP", "REPLACE", "PUSH_BACK"})
    void a_head_that_waits_for_its_retry_holds_its_dedup_key_again(DedupMode mode) throws Exception {
        long id = unique(1, mode).id();
        follower(2);

        run((step, job) -> fail());

        Enqueued second = unique(3, mode);
        assertThat(second.duplicate()).isTrue();
        assertThat(second.id()).isEqualTo(id);
        runAll();
        assertThat(done).containsExactly(mode == DedupMode.REPLACE ? 3 : 1, 2);
    }

    @Test
    void so_does_one_that_snoozes_and_is_parked_meanwhile() throws Exception {
        long id = unique(1, DedupMode.KEEP).id();

        run((step, job) -> {
            throw new Snooze(HOUR);
        });

        assertThat(unique(3, DedupMode.KEEP).id()).isEqualTo(id);
    }

    @ParameterizedTest
    @EnumSource(
            value = DedupMode.class,
            names = {"KEEP", "REPLACE", "PUSH_BACK"})
    void a_head_that_fails_keeps_its_place_and_takes_over_from_the_one_behind_it(DedupMode mode) throws Exception {
        long head = unique(1, mode).id();
        follower(2);
        List<Long> second = new ArrayList<>();

        run((step, job) -> {
            second.add(unique(3, mode).id());
            fail();
        });

        assertCancelled(second.get(0), head);
        assertThat(holder()).isEqualTo(head);
        assertThat(unique(4, DedupMode.KEEP).id()).isEqualTo(head);
        assertThat(rowlock.job(head).progress().attempts()).isEqualTo(1);
        runAll();
        assertThat(done).as("the newer content, in the older place").containsExactly(3, 2);
    }

    @Test
    void the_later_of_both_times_counts_and_so_nobody_is_run_before_its_time() throws Exception {
        long head = unique(1, DedupMode.KEEP).id();

        run((step, job) -> {
            step(3, o -> o.orderingKey("a").dedupKey("d").after(HOUR.multipliedBy(3)));
            fail();
        });

        assertThat(holder()).isEqualTo(head);
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE id = ? AND run_at > clock_timestamp()"
                                + " + interval '2 hours'",
                        head))
                .isEqualTo(1);
    }

    @Test
    void one_without_an_ordering_key_gives_way_to_the_one_that_has_a_place() throws Exception {
        long head = unique(1, DedupMode.KEEP).id();
        follower(2);
        List<Long> second = new ArrayList<>();

        run((step, job) -> {
            second.add(step(3, o -> o.dedupKey("d").queue("other")).id());
            fail();
        });

        assertCancelled(second.get(0), head);
        runAll();
        assertThat(done).containsExactly(3, 2);
    }

    @Test
    void one_without_an_ordering_key_is_merged_into_one_that_has_a_place() throws Exception {
        long first = step(1, o -> o.dedupKey("d")).id();
        List<Long> second = new ArrayList<>();

        run((step, job) -> {
            second.add(unique(3, DedupMode.KEEP).id());
            fail();
        });

        assertCancelled(first, second.get(0));
        runAll();
        assertThat(done).containsExactly(3);
    }

    @Test
    void a_job_that_committed_late_before_it_keeps_its_place_and_what_follows_goes_on() throws Exception {
        schema.execute("SELECT setval(pg_get_serial_sequence('rowlock_job', 'id'), 100)");
        long second = unique(1, DedupMode.KEEP).id();
        follower(2);

        run((step, job) -> {
            schema.execute(
                    "INSERT INTO rowlock_job (id, kind, payload, ordering_key, dedup_key, dedup_mode, waiting_key)"
                            + " OVERRIDING SYSTEM VALUE VALUES (5, 'step', '{\"no\":0}', 'a', 'd', 'keep', 'd')");
            fail();
        });

        assertCancelled(second, 5);
        runAll();
        assertThat(done).containsExactly(0, 2);
    }

    @Test
    void two_with_different_ordering_keys_stay_two_each_in_its_place() throws Exception {
        long first = unique(1, DedupMode.KEEP).id();
        follower(2);
        step(10, o -> o.orderingKey("b"));
        List<Long> second = new ArrayList<>();

        run((step, job) -> {
            second.add(step(11, o -> o.orderingKey("b").dedupKey("d")).id());
            fail();
        });

        assertThat(rowlock.state(first)).isIn(JobState.READY, JobState.PARKED);
        assertThat(holder()).isEqualTo(second.get(0));
        runAll();
        assertThat(done).containsExactlyInAnyOrder(1, 2, 10, 11);
        assertThat(done).containsSubsequence(1, 2).containsSubsequence(10, 11);
        assertThat(rowlock.events(JobMerged.class)).isEmpty();
    }

    @Test
    @Tag("P10")
    void while_a_duplicates_transaction_is_open_nothing_is_merged_and_its_answer_stays_true() throws Exception {
        long head = unique(1, DedupMode.KEEP).id();
        follower(2);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        try (Worker worker = rowlock.work(w -> w.handle(
                Step.class,
                (step, job) -> {
                    begun.countDown();
                    written.await();
                    fail();
                },
                h -> h.retry(RetryPolicy.fixed(HOUR))))) {
            begun.await();
            long second = unique(3, DedupMode.KEEP).id();
            try (Connection open = schema.begin()) {
                Enqueued duplicate = rowlock.rowlock()
                        .outbox()
                        .enqueue(open, new Step(4), o -> o.orderingKey("a").dedupKey("d", DedupMode.REPLACE));
                assertThat(duplicate.id()).isEqualTo(second);
                written.countDown();
                soon().until(() -> rowlock.events(JobRetried.class).size() == 1);
                rowlock.awaitState(
                        step(5, o -> o.orderingKey("b").maxAttempts(1)).id(), JobState.DEAD);
                assertThat(rowlock.state(second)).isNotEqualTo(JobState.CANCELLED);
                open.commit();
            }
            rowlock.awaitState(second, JobState.CANCELLED);
            assertThat(worker.health().up()).isTrue();
        }
        schema.update("DELETE FROM rowlock_key WHERE ordering_key = 'b'");
        runAll();
        assertThat(done)
                .as("what the duplicate wrote, in the place of the first")
                .containsExactly(4, 2);
        assertThat(rowlock.state(head)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    @Tag("P10")
    void while_the_row_of_the_ordering_key_is_locked_nothing_is_merged_and_other_outcomes_go_on() throws Exception {
        long head = unique(1, DedupMode.KEEP).id();
        CountDownLatch putBack = new CountDownLatch(1);
        CountDownLatch locked = new CountDownLatch(1);
        try (Connection person = schema.begin();
                Worker worker = rowlock.work(w -> w.handle(Step.class, (step, job) -> {
                    if (step.no() == 1) {
                        try (Connection own = schema.begin()) {
                            job.snoozeIn(own, HOUR);
                            own.commit();
                        }
                        putBack.countDown();
                        locked.await();
                    }
                }))) {
            putBack.await();
            long second = unique(3, DedupMode.KEEP).id();
            soon().until(() -> rowlock.state(second) == JobState.PARKED);
            person.createStatement().execute("SELECT FROM rowlock_key FOR UPDATE");
            locked.countDown();
            soon().until(() -> rowlock.events(JobSnoozed.class).size() == 1);
            rowlock.awaitState(step(9, o -> o.orderingKey("b")).id(), JobState.COMPLETED);
            assertThat(rowlock.state(second)).isEqualTo(JobState.PARKED);
            person.rollback();
            rowlock.awaitState(second, JobState.CANCELLED);
            assertThat(holder()).isEqualTo(head);
            assertThat(worker.health().up()).isTrue();
        }
        runAll();
        assertThat(done).containsExactly(3);
    }

    @Test
    @Tag("B43")
    void handed_back_again_and_again_it_holds_its_key_and_runs_first_without_having_used_an_attempt() throws Exception {
        long head =
                step(1, o -> o.orderingKey("a").dedupKey("d").maxAttempts(2)).id();
        follower(2);
        for (int deploy = 0; deploy < 5; deploy++) {
            CountDownLatch begun = new CountDownLatch(1);
            try (Worker worker = rowlock.work(w -> w.handle(Step.class, (step, job) -> {
                begun.countDown();
                new CountDownLatch(1).await();
            }))) {
                begun.await();
                long second = unique(10 + deploy, DedupMode.KEEP).id();
                worker.stop(Duration.ZERO);
                assertThat(rowlock.state(second)).isEqualTo(JobState.CANCELLED);
            }
            assertThat(unique(20, DedupMode.KEEP).id()).isEqualTo(head);
            assertThat(rowlock.job(head).progress().attempts()).isZero();
        }
        runAll();
        assertThat(done).containsExactly(14, 2);
        assertThat(schema.count("SELECT max(attempts)::bigint FROM rowlock_job"))
                .isEqualTo(1);
    }

    @Test
    void a_revived_dead_head_holds_its_key_again() throws Exception {
        long head = unique(1, DedupMode.KEEP).id();
        follower(2);
        die();

        assertThat(rowlock.rowlock().jobs().revive(head, ADA)).isEqualTo(JobAnswer.DONE);

        assertThat(unique(3, DedupMode.KEEP).id()).isEqualTo(head);
        runAll();
        assertThat(done).containsExactly(1, 2);
    }

    @Test
    void one_that_is_revived_while_another_waits_behind_it_takes_over_from_that() throws Exception {
        long head = unique(1, DedupMode.KEEP).id();
        follower(2);
        die();
        long second = unique(3, DedupMode.KEEP).id();

        assertThat(rowlock.rowlock().jobs().revive(head, ADA)).isEqualTo(JobAnswer.DONE);

        assertThat(rowlock.state(second)).isEqualTo(JobState.CANCELLED);
        assertThat(holder()).isEqualTo(head);
        runAll();
        assertThat(done).containsExactly(3, 2);
    }

    @Test
    void without_an_ordering_key_the_revived_one_is_merged_into_the_waiting_one() throws Exception {
        long dead = step(1, o -> o.dedupKey("d")).id();
        die();
        long second = step(3, o -> o.dedupKey("d")).id();

        assertThat(rowlock.rowlock().jobs().revive(dead, ADA)).isEqualTo(JobAnswer.MERGED);

        assertThat(rowlock.job(dead).progress().lastError()).isEqualTo("duplicate of " + second);
        runAll();
        assertThat(done).containsExactly(3);
    }

    @ParameterizedTest
    @EnumSource(
            value = JobState.class,
            names = {"READY", "CANCELLED"})
    @Tag("P15")
    void a_revive_waits_for_a_transaction_that_writes_the_key_and_its_own_goes_on(JobState ofTheSecond)
            throws Exception {
        long head = unique(1, DedupMode.KEEP).id();
        follower(2);
        die();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Connection open = schema.begin()) {
            rowlock.rowlock()
                    .outbox()
                    .enqueue(open, new Step(3), o -> o.orderingKey("a").dedupKey("d"));
            Future<JobAnswer> revived = threads.submit(() ->
                    rowlock.commit(person -> rowlock.rowlock().jobs().in(person).revive(head, ADA)));
            soon().until(() -> schema.count(
                            "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
                                    + " AND wait_event_type = 'Lock'",
                            schema.name())
                    == 1);
            if (ofTheSecond == JobState.CANCELLED) {
                open.commit();
            } else {
                open.rollback();
            }
            assertThat(revived.get()).isEqualTo(JobAnswer.DONE);
        } finally {
            threads.shutdownNow();
        }

        assertThat(holder()).isEqualTo(head);
        runAll();
        assertThat(done).containsExactly(ofTheSecond == JobState.CANCELLED ? 3 : 1, 2);
    }

    private void die() {
        run((step, job) -> {
            throw new PermanentFailure("as told");
        });
    }
}
