package io.rowlock.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandlerConfig;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs written once hold their key in every state, until they are pruned. */
@PostgresTest
final class DedupOnceIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    private Enqueued once(String key) throws Exception {
        return rowlock.enqueue(new Mail(1), o -> o.dedupKey(key, DedupMode.ONCE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "state = 'ready'",
                "state = 'parked'",
                "locked_by = 'w', locked_until = clock_timestamp(), token = 1, attempts = 1",
                "state = 'completed', finished_at = clock_timestamp()",
                "state = 'dead', finished_at = clock_timestamp()",
                "state = 'cancelled', finished_at = clock_timestamp()"
            })
    void whatever_has_become_of_the_job_another_is_a_duplicate(String change) throws Exception {
        long id = once("a").id();
        schema.execute("UPDATE rowlock_job SET " + change);

        Enqueued second = once("a");

        assertThat(second.duplicate()).isTrue();
        assertThat(second.id()).isEqualTo(id);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_worker_that_deletes_at_once_keeps_it(boolean transactional) throws Exception {
        long id = once("a").id();
        long other = rowlock.enqueue(new Mail(2), o -> o.dedupKey("a")).id();

        try (Worker worker = rowlock.work(deletingAtOnce(transactional))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id = " + other);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(once("a").id()).isEqualTo(id);
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(2);
        assertThat(rowlock.rowlock().jobs().failures(id)).hasSize(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isEqualTo(1);
    }

    private static void fail(int attempt) {
        if (attempt == 1) {
            throw new IllegalStateException("the first attempt fails");
        }
    }

    private static Consumer<WorkerConfig> deletingAtOnce(boolean transactional) {
        Consumer<HandlerConfig> soon = h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(1)));
        return w -> {
            w.keepCompleted(Duration.ZERO);
            if (transactional) {
                w.handleTransactionally(Mail.class, (mail, job, connection) -> fail(job.attempt()), soon);
            } else {
                w.handle(Mail.class, (mail, job) -> fail(job.attempt()), soon);
            }
        };
    }

    @Test
    void where_the_others_are_deleted_at_once_it_is_pruned_after_a_day() throws Exception {
        long old = once("old").id();
        long fresh = once("fresh").id();
        schema.execute(
                "UPDATE rowlock_job SET state = 'completed', finished_at = clock_timestamp() - interval '23 hours';"
                        + "UPDATE rowlock_job SET finished_at = clock_timestamp() - interval '25 hours' WHERE id = "
                        + old);

        try (Worker worker = rowlock.work(deletingAtOnce(false))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id = " + old);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.state(fresh)).isEqualTo(JobState.COMPLETED);
        assertThat(once("old").duplicate()).isFalse();
    }

    @Test
    void where_they_are_kept_it_is_pruned_with_them() throws Exception {
        long once = once("a").id();
        long other = rowlock.enqueue(new Mail(2)).id();
        schema.execute(
                "UPDATE rowlock_job SET state = 'completed', finished_at = clock_timestamp() - interval '2 hours'");

        try (Worker worker =
                rowlock.work(w -> w.keepCompleted(Duration.ofHours(1)).handle(Mail.class, (mail, job) -> {}))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id IN (" + once + ", " + other + ")");
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void jobs_that_were_merged_are_pruned_with_the_completed_and_after_a_day_where_those_are_deleted_at_once()
            throws Exception {
        long old = rowlock.enqueue(new Mail(1)).id();
        long fresh = rowlock.enqueue(new Mail(2)).id();
        schema.execute(
                "UPDATE rowlock_job SET state = 'cancelled', finished_at = clock_timestamp() - interval '23 hours';"
                        + "UPDATE rowlock_job SET finished_at = clock_timestamp() - interval '25 hours' WHERE id = "
                        + old);

        try (Worker worker = rowlock.work(deletingAtOnce(false))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id = " + old);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.state(fresh)).isEqualTo(JobState.CANCELLED);

        try (Worker worker =
                rowlock.work(w -> w.keepCompleted(Duration.ofHours(1)).handle(Mail.class, (mail, job) -> {}))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job");
            assertThat(worker.health().up()).isTrue();
        }
    }
}
