package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DedupMode;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobCounts;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What was cancelled while it waited for a later time is due at once when it is revived, and counted so. */
@PostgresTest
@Tag("P2")
final class RevivedAtOnceIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "meant it");
    private static final Duration LATER = Duration.ofMinutes(30);

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema own) throws Exception {
        schema = own;
        rowlock = TestRowlock.fresh(own);
    }

    private void isDue(long id) {
        assertThat(rowlock.rowlock().jobs().revive(id, ADA)).isEqualTo(JobAnswer.DONE);
        List<JobCounts> load = rowlock.rowlock().jobs().load();
        assertThat(load).hasSize(1);
        assertThat(load.get(0).lag().due()).isEqualTo(1);
        assertThat(load.get(0).future()).isZero();
    }

    @Test
    void one_that_was_cancelled_by_hand() throws Exception {
        long id = rowlock.enqueue(new Step(1), options -> options.after(LATER)).id();
        rowlock.rowlock().jobs().cancel(id, ADA);

        isDue(id);
    }

    @Test
    void one_whose_cancel_was_carried_out_after_it_was_put_back() throws Exception {
        long id = rowlock.enqueue(new Step(1), options -> options.after(LATER)).id();
        schema.execute("INSERT INTO rowlock_cancel_request (job_id, reason) VALUES (?, 'cancelled by ada')", id);
        try (Worker worker = rowlock.work(w -> w.handle(Step.class, (step, job) -> {}))) {
            rowlock.awaitState(id, JobState.CANCELLED);
            assertThat(worker.health().up()).isTrue();
        }

        isDue(id);
    }

    @Test
    void one_that_was_put_back_and_merged_into_another_that_waited_under_its_dedup_key() throws Exception {
        AtomicLong other = new AtomicLong();
        long first;
        try (Worker worker = rowlock.work(w -> w.handle(
                Step.class,
                (step, job) -> {
                    other.set(rowlock.enqueue(
                                    new Step(2),
                                    options -> options.dedupKey("k", DedupMode.KEEP)
                                            .after(LATER))
                            .id());
                    throw new IllegalStateException("as told");
                },
                h -> h.retry(RetryPolicy.exponential(LATER))))) {
            first = rowlock.enqueue(new Step(1), options -> options.dedupKey("k"))
                    .id();
            long begun = first;
            soon().until(() -> other.get() != 0
                    && (rowlock.state(begun) == JobState.CANCELLED
                            || rowlock.state(other.get()) == JobState.CANCELLED));
            assertThat(worker.health().up()).isTrue();
        }
        long merged = rowlock.state(first) == JobState.CANCELLED ? first : other.get();
        long stayed = merged == first ? other.get() : first;
        rowlock.rowlock().jobs().cancel(stayed, ADA);
        rowlock.rowlock().jobs().delete(stayed, ADA);

        isDue(merged);
    }
}
