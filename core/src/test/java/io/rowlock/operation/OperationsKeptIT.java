package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.DeadHead;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.Queues;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people do to jobs is kept in the same transaction: who, why, what. */
@PostgresTest
@Tag("P1")
final class OperationsKeptIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "ordered twice");
    private static final By BOB = new By("bob", "mended");

    private TestRowlock rowlock;
    private TestSchema schema;
    private Jobs jobs;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        jobs = rowlock.rowlock().jobs();
    }

    @Test
    void a_cancel_and_a_revive_are_kept_and_what_changes_nothing_is_not() throws Exception {
        long id = rowlock.enqueue(new Step(1)).id();

        assertThat(jobs.revive(id, ADA)).isEqualTo(JobAnswer.UNFINISHED);
        assertThat(jobs.skip(id, ADA)).isFalse();
        assertThat(jobs.cancel(4711, ADA)).isEqualTo(Cancellation.UNKNOWN);
        assertThat(kept()).isEmpty();

        assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.STOPPED);
        assertThat(jobs.cancel(id, BOB)).isEqualTo(Cancellation.ALREADY_FINISHED);
        assertThat(jobs.revive(id, BOB)).isEqualTo(JobAnswer.DONE);

        assertThat(kept()).containsExactly("ada: ordered twice: cancel " + id, "bob: mended: revive " + id);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation WHERE saga IS NULL AND step IS NULL AND at"
                        + " BETWEEN clock_timestamp() - interval '5 minutes' AND clock_timestamp()"))
                .isEqualTo(2);
    }

    @Test
    void what_is_done_to_queues_is_kept_and_what_changes_nothing_is_not() throws Exception {
        Queues queues = rowlock.rowlock().queues();
        assertThat(queues.resume("mails", ADA)).isFalse();
        assertThat(queues.pause("mails", ADA)).isTrue();
        assertThat(queues.pause("mails", BOB)).isFalse();
        assertThat(queues.resume("mails", BOB)).isTrue();
        queues.limit("mails", QueueLimits.none().running(1), ADA);
        queues.deadHead("mails", DeadHead.PASS, BOB);

        assertThat(schema.list(
                        String.class,
                        "SELECT who || ': ' || why || ': ' || what || ' ' || queue FROM rowlock_operation ORDER BY id"))
                .containsExactly(
                        "ada: ordered twice: pause mails",
                        "bob: mended: resume mails",
                        "ada: ordered twice: limit mails",
                        "bob: mended: dead head mails");
    }

    @Test
    void a_skip_of_a_dead_head_is_kept() throws Exception {
        try (Worker worker = rowlock.work(w -> w.handle(
                Step.class,
                (step, job) -> {
                    throw new IllegalStateException("as told");
                },
                h -> h.retry(RetryPolicy.standard().maxAttempts(1))))) {
            long id = rowlock.enqueue(new Step(1), options -> options.orderingKey("Order:42"))
                    .id();
            rowlock.awaitState(id, JobState.DEAD);

            assertThat(jobs.skip(id, ADA)).isTrue();
            assertThat(jobs.skip(id, ADA)).isFalse();

            assertThat(kept()).containsExactly("ada: ordered twice: skip " + id);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_cancel_that_is_asked_for_is_kept_when_it_is_asked_for() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        long id = rowlock.enqueue(new Step(1)).id();
        try (Worker worker = rowlock.work(w -> w.handleTransactionally(Step.class, (step, job, connection) -> {
            begun.countDown();
            gate.await();
        }))) {
            begun.await();
            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);
            gate.countDown();
            soon().until(() -> rowlock.state(id) == JobState.CANCELLED);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(kept()).containsExactly("ada: ordered twice: cancel " + id);
    }

    @Test
    void what_is_done_in_a_transaction_of_the_caller_is_kept_if_and_only_if_that_commits() throws Exception {
        long id = rowlock.enqueue(new Step(1)).id();

        try (Connection connection = schema.begin()) {
            assertThat(jobs.in(connection).cancel(id, ADA)).isEqualTo(Cancellation.STOPPED);
            connection.rollback();
            assertThat(kept()).isEmpty();

            assertThat(jobs.in(connection).cancel(id, BOB)).isEqualTo(Cancellation.STOPPED);
            connection.commit();
        }
        assertThat(kept()).containsExactly("bob: mended: cancel " + id);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation o JOIN rowlock_job j ON j.id = o.job_id"
                        + " AND j.xmin::text = o.xmin::text"))
                .isEqualTo(1);
    }

    private List<String> kept() throws Exception {
        return schema.list(
                String.class,
                "SELECT who || ': ' || why || ': ' || what || ' ' || job_id FROM rowlock_operation ORDER BY id");
    }
}
