package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With a poll of an hour, everything that runs in these tests runs because something woke the worker. */
@PostgresTest
final class WakeUpIT {
    @Kind("mail")
    private record Mail(int no) {}

    private final Map<Integer, Integer> runs = new ConcurrentHashMap<>();
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void a_committed_job_runs_at_once_when_its_answer_is_given_to_wake() throws Exception {
        try (Worker worker = sleeper()) {
            for (int no = 1; no <= 20; no++) {
                Enqueued job = rowlock.enqueue(new Mail(no));
                rowlock.rowlock().wake(List.of(job));
                rowlock.awaitState(job.id(), JobState.COMPLETED);
            }
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(runs).hasSize(20);
    }

    @Test
    void an_empty_wake_up_brings_the_poll_forward() throws Exception {
        try (Worker worker = sleeper()) {
            Enqueued job = rowlock.enqueue(new Mail(1));
            rowlock.rowlock().wake(List.of());
            rowlock.awaitState(job.id(), JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    @Tag("P2")
    void a_job_whose_transaction_was_open_for_longer_than_the_watermarks_slack_runs_at_once() throws Exception {
        try (Worker worker = sleeper()) {
            for (int no = 1; no <= 5; no++) {
                Enqueued written = lateJob(no, Duration.ofMinutes(10L * no));
                rowlock.rowlock().wake(List.of(written));
                rowlock.awaitState(written.id(), JobState.COMPLETED);
            }
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(runs).hasSize(5);
    }

    @Test
    @Tag("P2")
    void wake_ups_of_late_jobs_are_not_lost_while_claims_are_under_way() throws Exception {
        try (Worker worker = sleeper()) {
            List<Enqueued> late = new ArrayList<>();
            for (int no = 1; no <= 60; no++) {
                Enqueued written = lateJob(no, Duration.ofMinutes(1 + no % 7));
                rowlock.rowlock().wake(List.of(rowlock.enqueue(new Mail(-no))));
                rowlock.rowlock().wake(List.of(written));
                late.add(written);
            }
            for (Enqueued each : late) {
                rowlock.awaitState(each.id(), JobState.COMPLETED);
            }
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(runs.values()).containsOnly(1);
    }

    @Test
    void a_batch_larger_than_the_queue_is_worked_off_without_another_wake_up() throws Exception {
        List<JobRequest<?>> many = new ArrayList<>();
        for (int no = 0; no < 700; no++) {
            many.add(JobRequest.of(new Mail(no)));
        }
        try (Worker worker = sleeper()) {
            rowlock.rowlock()
                    .wake(rowlock.commit(
                            connection -> rowlock.rowlock().outbox().enqueueAll(connection, many)));
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(runs).hasSize(700);
    }

    @Test
    void a_retry_and_a_snooze_that_are_due_before_the_next_poll_wake_the_worker_themselves() throws Exception {
        try (Worker worker = rowlock.start(w -> w.poll(Duration.ofHours(1))
                .queue("default", 2)
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            int run = runs.merge(mail.no(), 1, Integer::sum);
                            if (run == 1) {
                                throw new IllegalStateException("once");
                            }
                            if (run == 2) {
                                throw new Snooze(Duration.ofMillis(300));
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(300)))))) {
            Enqueued job = rowlock.enqueue(new Mail(1));
            rowlock.rowlock().wake(List.of(job));
            rowlock.awaitState(job.id(), JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(runs).containsEntry(1, 3);
    }

    @Test
    void waking_before_the_start_and_after_the_stop_does_no_harm() throws Exception {
        Worker worker = rowlock.rowlock().worker(w -> w.handle(Mail.class, (mail, job) -> {}));
        rowlock.rowlock().wake(List.of(rowlock.enqueue(new Mail(1))));
        worker.start();
        worker.stop(Duration.ofSeconds(10));
        rowlock.rowlock().wake(List.of(rowlock.enqueue(new Mail(2))));

        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
    }

    /** A worker with an hour between two polls that has done its first. */
    private Worker sleeper() throws Exception {
        Worker worker = rowlock.start(w -> w.poll(Duration.ofHours(1))
                .queue("default", 2)
                .handle(Mail.class, (mail, job) -> runs.merge(mail.no(), 1, Integer::sum)));
        TestRowlock.soon().until(() -> worker.health().sinceClaim() != null);
        return worker;
    }

    /** Writes and commits a job as if its transaction had been open for so long. */
    private Enqueued lateJob(int no, Duration open) throws Exception {
        try (Connection connection = schema.begin()) {
            Enqueued job = rowlock.rowlock().outbox().enqueue(connection, new Mail(no));
            try (var update = connection.prepareStatement(
                    "UPDATE rowlock_job SET run_at = run_at - ? * interval '1 second' WHERE id = ?")) {
                update.setLong(1, open.toSeconds());
                update.setLong(2, job.id());
                assertThat(update.executeUpdate()).isEqualTo(1);
            }
            connection.commit();
            return new Enqueued(
                    job.id(),
                    job.kind(),
                    job.queue(),
                    job.priority(),
                    job.runAt().minus(open),
                    job.keyed(),
                    false);
        }
    }
}
