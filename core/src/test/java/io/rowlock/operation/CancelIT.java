package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cancelled job never completes, whoever works on it; the answer says what was reached. */
@PostgresTest
final class CancelIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "ordered twice");

    private final Queue<Integer> begun = new ConcurrentLinkedQueue<>();
    private final Queue<Integer> ended = new ConcurrentLinkedQueue<>();
    private final Queue<Integer> interrupted = new ConcurrentLinkedQueue<>();
    private final CountDownLatch gate = new CountDownLatch(1);
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
    void a_waiting_job_is_stopped_and_says_by_whom_and_why() throws Exception {
        long id = rowlock.enqueue(new Step(1), options -> options.after(Duration.ofHours(1)))
                .id();

        assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.STOPPED);

        assertThat(rowlock.state(id)).isEqualTo(JobState.CANCELLED);
        assertThat(rowlock.job(id).progress().lastError()).isEqualTo("cancelled by ada: ordered twice");
        assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.ALREADY_FINISHED);
        assertThat(jobs.cancel(4711, ADA)).isEqualTo(Cancellation.UNKNOWN);
    }

    @Test
    @Tag("P3")
    void one_that_is_revived_while_its_handler_may_run_on_waits_for_the_end_of_its_lease() throws Exception {
        try (Worker worker = work(Duration.ofMinutes(10))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));
            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);
            assertThat(jobs.revive(id, ADA)).isEqualTo(JobAnswer.DONE);
            soon().until(() -> worker.health().running() == 0);
            assertThat(schema.count(
                            "SELECT count(*) FROM rowlock_job WHERE run_at > clock_timestamp() + interval '8 minutes'"))
                    .isEqualTo(1);
        }
        long waiting = rowlock.enqueue(new Step(2), options -> options.after(Duration.ofHours(1)))
                .id();
        assertThat(jobs.cancel(waiting, ADA)).isEqualTo(Cancellation.STOPPED);
        assertThat(jobs.revive(waiting, ADA)).isEqualTo(JobAnswer.DONE);
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE run_at <= clock_timestamp() AND id = " + waiting))
                .as("nobody was at work: due at once")
                .isEqualTo(1);
    }

    @Test
    @Tag("P3")
    void a_running_handler_is_told_at_once_and_its_outcome_counts_for_nothing() throws Exception {
        try (Worker worker = work(Duration.ofMinutes(10))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));

            assertThat(jobs.cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);

            soon().until(() -> interrupted.contains(1) && worker.health().running() == 0);
            assertThat(rowlock.state(id)).isEqualTo(JobState.CANCELLED);
            assertThat(jobs.failures(id)).isEmpty();
        }
    }

    @Test
    @Tag("P3")
    void a_worker_of_another_rowlock_learns_it_by_its_heartbeat() throws Exception {
        TestRowlock elsewhere = rowlock;
        try (Worker worker = work(Duration.ofSeconds(3))) {
            long id = rowlock.enqueue(new Step(1)).id();
            soon().until(() -> begun.contains(1));

            try (Connection connection = schema.begin()) {
                assertThat(jobs.in(connection).cancel(id, ADA)).isEqualTo(Cancellation.REQUESTED);
                connection.commit();
            }

            soon().until(() -> interrupted.contains(1));
            assertThat(elsewhere.state(id)).isEqualTo(JobState.CANCELLED);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P1")
    void a_cancel_in_the_callers_transaction_holds_if_and_only_if_that_one_commits() throws Exception {
        long id = rowlock.enqueue(new Step(1), options -> options.after(Duration.ofHours(1)))
                .id();
        try (Connection connection = schema.begin()) {
            assertThat(jobs.in(connection).cancel(id, ADA)).isEqualTo(Cancellation.STOPPED);
            connection.rollback();
        }
        assertThat(rowlock.state(id)).isEqualTo(JobState.READY);
        try (Connection connection = schema.connect()) {
            assertThatThrownBy(() -> jobs.in(connection).cancel(id, ADA)).isInstanceOf(InvalidUseException.class);
        }
    }

    @Test
    @Tag("P11")
    void a_cancelled_head_lets_its_followers_go_on_and_a_cancelled_follower_is_passed_over() throws Exception {
        List<Long> ids = keyed(5);
        assertThat(jobs.cancel(ids.get(0), ADA)).isEqualTo(Cancellation.STOPPED);
        assertThat(jobs.cancel(ids.get(3), ADA)).isEqualTo(Cancellation.STOPPED);
        gate.countDown();

        try (Worker worker = work(Duration.ofMinutes(1))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(ended).containsExactly(1, 2, 4);
    }

    @Test
    void a_cancel_under_repeatable_read_is_refused_and_the_transaction_goes_on() throws Exception {
        long id = rowlock.enqueue(new Step(1), options -> options.after(Duration.ofHours(1)))
                .id();
        try (Connection connection = schema.begin()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            assertThatThrownBy(() -> jobs.in(connection).cancel(id, ADA))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("repeatable read");
            connection.createStatement().execute("SELECT 1");
        }
        assertThat(rowlock.state(id)).isEqualTo(JobState.READY);
    }

    @Test
    @Tag("P11")
    void a_head_that_ends_while_its_follower_is_being_cancelled_promotes_the_one_behind() throws Exception {
        List<Long> ids = keyed(3);
        try (Worker worker = work(Duration.ofMinutes(1));
                Connection person = schema.begin()) {
            soon().until(() -> begun.contains(0));
            soon().until(() -> rowlock.count(JobState.PARKED) == 2);
            assertThat(jobs.in(person).cancel(ids.get(1), ADA)).isEqualTo(Cancellation.STOPPED);
            gate.countDown();
            soon().until(() -> ended.contains(0) && worker.health().unrecorded() == 1);
            person.commit();
            rowlock.awaitAllEnded();
        }

        assertThat(ended).containsExactly(0, 2);
        assertThat(rowlock.state(ids.get(1))).isEqualTo(JobState.CANCELLED);
    }

    @Test
    @Tag("P15")
    void a_row_that_a_transaction_holds_is_waited_for_not_for_ever_and_nothing_is_changed() throws Exception {
        long id = rowlock.enqueue(new Step(1)).id();
        try (Connection other = schema.begin();
                Statement lock = other.createStatement()) {
            lock.execute("SELECT id FROM rowlock_job FOR UPDATE");

            assertThatThrownBy(() -> jobs.cancel(id, ADA))
                    .isInstanceOf(DatabaseException.class)
                    .hasMessageContaining("try again later");
        }
        assertThat(rowlock.state(id)).isEqualTo(JobState.READY);
    }

    @Test
    void a_paused_queue_is_not_claimed_from_until_it_is_resumed() throws Exception {
        gate.countDown();
        assertThat(rowlock.rowlock().queues().pause("default", ADA)).isTrue();
        assertThat(rowlock.rowlock().queues().pause("default", ADA)).isFalse();
        try (Worker worker = work(Duration.ofMinutes(1))) {
            rowlock.enqueue(new Step(1));
            rowlock.enqueue(new Step(2), options -> options.orderingKey("a"));
            rowlock.enqueue(new Step(3), options -> options.queue("other"));
            soon().until(() -> ended.contains(3));
            assertThat(rowlock.rowlock().queues().pauseOf("default"))
                    .hasValueSatisfying(pause -> assertThat(pause.who()).isEqualTo("ada"));
            assertThat(begun).containsExactly(3);

            assertThat(rowlock.rowlock().queues().resume("default", ADA)).isTrue();

            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(ended).containsExactlyInAnyOrder(1, 2, 3);
        assertThat(rowlock.rowlock().queues().resume("default", ADA)).isFalse();
        assertThat(rowlock.rowlock().queues().pauseOf("default")).isEmpty();
    }

    private List<Long> keyed(int n) throws Exception {
        return rowlock
                .enqueueAll(IntStream.range(0, n).mapToObj(Step::new).toList(), options -> options.orderingKey("a"))
                .stream()
                .map(Enqueued::id)
                .toList();
    }

    /** Steps wait for the gate. */
    private Worker work(Duration lease) {
        return rowlock.work(config -> config.lease(lease)
                .queue("default", 4)
                .queue("other", 4)
                .handle(Step.class, (step, job) -> {
                    begun.add(step.no());
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        interrupted.add(step.no());
                        throw e;
                    }
                    ended.add(step.no());
                }));
    }
}
