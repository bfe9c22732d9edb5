package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Job;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of a job's row by what its handler does. */
@PostgresTest
final class OutcomesIT {
    private static final Duration HOUR = Duration.ofHours(1);

    @Kind("mail")
    private record Mail(int no) {}

    @Kind("sms")
    private record Sms(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void a_job_whose_handler_returns_is_completed() throws Exception {
        List<Job> before = new ArrayList<>();
        long id = rowlock.enqueue(new Mail(7), o -> o.subject("Order:1")).id();

        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> before.add(rowlock.job(id))))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(before).singleElement().satisfies(leased -> {
                assertThat(leased.state()).isEqualTo(JobState.READY);
                assertThat(leased.lease().owner()).isEqualTo(worker.id());
                assertThat(leased.lease().until()).isNotNull();
                assertThat(leased.progress().attempts()).isEqualTo(1);
            });
        }

        Job done = rowlock.job(id);
        assertThat(done.progress().finishedAt()).isNotNull();
        assertThat(done.progress().attempts()).isEqualTo(1);
        assertThat(done.progress().lastError()).isNull();
        assertThat(done.lease().owner()).isNull();
        assertThat(done.lease().until()).isNull();
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
        TestRowlock.soon()
                .until(() ->
                        rowlock.events(JobCompleted.class).equals(List.of(new JobCompleted(id, "default", "mail", 1))));
    }

    @Test
    void a_handler_is_told_all_about_its_job() throws Exception {
        Map<String, Object> told = new ConcurrentHashMap<>();
        long id = rowlock.enqueue(
                        new Mail(7),
                        o -> o.queue("q").subject("Order:1").maxAttempts(3).header("tenant", "north"))
                .id();

        try (Worker worker =
                rowlock.work(w -> w.queue("q", 1).handle(Mail.class, (mail, job) -> tell(told, mail, job)))) {
            rowlock.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(told)
                .containsEntry("payload", new Mail(7))
                .containsEntry("id", id)
                .containsEntry("kind", "mail")
                .containsEntry("queue", "q")
                .containsEntry("subject", "Order:1")
                .containsEntry("headers", Map.of("tenant", "north"))
                .containsEntry("attempt", 1)
                .containsEntry("maxAttempts", 3)
                .containsEntry("cancelled", false)
                .containsEntry("token", 1L);
        assertThat((String) told.get("key")).matches("[0-9a-f-]{36}-" + id);
    }

    private static void tell(Map<String, Object> told, Mail mail, JobContext job) {
        told.put("payload", mail);
        told.put("id", job.id());
        told.put("kind", job.kind());
        told.put("queue", job.queue());
        told.put("subject", String.valueOf(job.subject()));
        told.put("headers", job.headers());
        told.put("attempt", job.attempt());
        told.put("maxAttempts", job.maxAttempts());
        told.put("cancelled", job.cancelled());
        told.put("token", job.token());
        told.put("key", job.idempotencyKey());
    }

    @Test
    @Tag("P7")
    void a_failed_job_waits_as_long_as_its_policy_says_by_the_databases_clock() throws Exception {
        long id = rowlock.enqueue(new Mail(1)).id();

        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(
                        Mail.class,
                        (mail, job) -> {
                            throw new IOException("no route to mail server");
                        },
                        h -> h.retry(RetryPolicy.exponential(Duration.ofMinutes(1))
                                .max(Duration.ofMinutes(3))
                                .jitter(0))))) {
            for (long minutes : new long[] {1, 2, 3, 3}) {
                assertThat(worker.runNext()).isTrue();
                assertThat(worker.runNext()).as("it is not due").isFalse();
                assertWaits(id, Duration.ofMinutes(minutes));
                assertThat(worker.bringForward()).isEqualTo(1);
            }
        }

        Job job = rowlock.job(id);
        assertThat(job.state()).isEqualTo(JobState.READY);
        assertThat(job.progress().attempts()).isEqualTo(4);
        assertThat(job.progress().lastError()).isEqualTo("no route to mail server");
        assertThat(job.lease().owner()).isNull();
        assertThat(rowlock.events(JobRetried.class))
                .extracting(JobRetried::delay)
                .containsExactly(
                        Duration.ofMinutes(1), Duration.ofMinutes(2), Duration.ofMinutes(3), Duration.ofMinutes(3));
    }

    /** The last failure was recorded by the statement that put the job back. */
    private void assertWaits(long id, Duration delay) throws SQLException {
        assertThat(schema.count(
                        "SELECT round(extract(epoch FROM j.run_at - max(f.at)))::bigint FROM rowlock_job j"
                                + " JOIN rowlock_job_failure f ON f.job_id = j.id WHERE j.id = ? GROUP BY j.run_at",
                        id))
                .isEqualTo(delay.toSeconds());
    }

    @Test
    void every_failed_attempt_leaves_a_row_that_says_why() throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.maxAttempts(3)).id();

        String worker = runToTheEnd((mail, job) -> {
            throw new IllegalStateException("attempt " + job.attempt(), new IOException("root"));
        });

        List<JobFailure> failures = rowlock.rowlock().jobs().failures(id);
        assertThat(failures).extracting(JobFailure::attempt).containsExactly(1, 2, 3);
        assertThat(failures).extracting(JobFailure::message).containsExactly("attempt 1", "attempt 2", "attempt 3");
        assertThat(failures).allSatisfy(failure -> {
            assertThat(failure.jobId()).isEqualTo(id);
            assertThat(failure.worker()).isEqualTo(worker);
            assertThat(failure.errorClass()).isEqualTo("java.lang.IllegalStateException");
            assertThat(failure.stack()).contains("Caused by: java.io.IOException: root");
        });
    }

    @Test
    void the_jobs_own_limit_of_attempts_goes_before_the_policys() throws Exception {
        long own = rowlock.enqueue(new Mail(1), o -> o.maxAttempts(2)).id();
        long policys = rowlock.enqueue(new Mail(2)).id();
        long more = rowlock.enqueue(new Mail(3), o -> o.maxAttempts(7)).id();

        runToTheEnd((mail, job) -> {
            throw new IllegalStateException("no");
        });

        assertThat(rowlock.job(own).progress().attempts()).isEqualTo(2);
        assertThat(rowlock.job(policys).progress().attempts()).isEqualTo(5);
        assertThat(rowlock.job(more).progress().attempts()).isEqualTo(7);
        assertThat(rowlock.count(JobState.DEAD)).isEqualTo(3);
    }

    @Test
    void a_permanent_failure_and_a_type_of_neverOn_are_dead_letters_at_once() throws Exception {
        long permanent = rowlock.enqueue(new Mail(1)).id();
        long never = rowlock.enqueue(new Mail(2)).id();

        runToTheEnd((mail, job) -> {
            if (mail.no() == 1) {
                throw new PermanentFailure("no such address");
            }
            throw new java.net.SocketException("a subclass of what neverOn names");
        });

        for (long id : List.of(permanent, never)) {
            Job job = rowlock.job(id);
            assertThat(job.state()).isEqualTo(JobState.DEAD);
            assertThat(job.progress().attempts()).isEqualTo(1);
            assertThat(job.progress().finishedAt()).isNotNull();
            assertThat(job.lease().owner()).isNull();
            assertThat(rowlock.rowlock().jobs().failures(id)).hasSize(1);
        }
        assertThat(rowlock.job(permanent).progress().lastError()).isEqualTo("no such address");
    }

    @Test
    void retryAfter_uses_an_attempt_and_waits_as_long_as_it_says() throws Exception {
        long id = rowlock.enqueue(new Mail(1)).id();

        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            throw new RetryAfter(HOUR, "429 from the mail server");
        }))) {
            TestRowlock.soon().until(() -> !rowlock.events(JobRetried.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(1);
        assertThat(rowlock.rowlock().jobs().failures(id)).hasSize(1);
        assertWaits(id, HOUR);
    }

    @Test
    @Tag("P6")
    void snooze_puts_the_job_back_for_later_without_using_an_attempt() throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.maxAttempts(1)).id();
        AtomicInteger calls = new AtomicInteger();

        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            assertThat(job.attempt()).isEqualTo(1);
            throw new Snooze(calls.incrementAndGet() < 3 ? Duration.ZERO : HOUR);
        }))) {
            TestRowlock.soon().until(() -> rowlock.events(JobSnoozed.class).size() == 3);
            assertThat(worker.health().up()).isTrue();
        }

        Job job = rowlock.job(id);
        assertThat(job.state()).isEqualTo(JobState.READY);
        assertThat(job.progress().attempts()).isZero();
        assertThat(job.progress().lastError()).isNull();
        assertThat(job.lease().owner()).isNull();
        assertThat(job.lease().token()).as("three claims, three hand-backs").isEqualTo(6);
        assertThat(rowlock.rowlock().jobs().failures(id)).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE run_at"
                        + " BETWEEN clock_timestamp() + interval '59 min' AND clock_timestamp() + interval '1 hour'"))
                .isEqualTo(1);
    }

    @Test
    void a_death_and_its_alert_are_one_transaction() throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.maxAttempts(1)).id();

        runToTheEnd((mail, job) -> {
            throw new IllegalStateException("no");
        });

        assertThat(schema.rows("SELECT cause, kind, n, job_id, reason FROM rowlock_alert"))
                .singleElement()
                .isEqualTo(Map.of("cause", "job dead", "kind", "mail", "n", 1L, "job_id", id, "reason", "no"));
        assertThat(schema.count("SELECT count(*) FROM rowlock_job j JOIN rowlock_alert a ON a.job_id = j.id"
                        + " JOIN rowlock_job_failure f ON f.job_id = j.id"
                        + " WHERE j.xmin::text = a.xmin::text AND f.xmin::text = j.xmin::text"))
                .isEqualTo(1);
        assertThat(rowlock.events(JobDied.class)).containsExactly(new JobDied(id, "default", "mail", 1, "no"));
    }

    @Test
    @Tag("P14")
    void deaths_are_counted_per_kind_and_hour() throws Exception {
        rowlock.enqueueAll(List.of(new Mail(1), new Mail(2), new Mail(3), new Sms(4)), o -> o.maxAttempts(1));
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, reason)"
                + " VALUES ('job dead', 'mail', date_trunc('hour', clock_timestamp()) - interval '1 hour', 'earlier')");

        runToTheEnd((mail, job) -> {
            throw new IllegalStateException("no " + mail.no());
        });

        assertThat(schema.count("SELECT sum(n)::bigint FROM rowlock_alert WHERE kind = 'mail' AND reason <> 'earlier'"))
                .isEqualTo(3);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE kind = 'sms' AND n = 1"))
                .isEqualTo(1);
        assertThat(schema.count("SELECT n FROM rowlock_alert WHERE reason = 'earlier'"))
                .isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE bucket <> date_trunc('hour', bucket)"))
                .isZero();
    }

    @Test
    void completed_jobs_that_are_not_kept_are_deleted_with_their_failures() throws Exception {
        List<Long> ids = new ArrayList<>();
        for (int no = 0; no < 20; no++) {
            ids.add(rowlock.enqueue(new Mail(no)).id());
        }
        long dead = rowlock.enqueue(new Mail(-1)).id();

        try (Worker worker = rowlock.work(w -> w.keepCompleted(Duration.ZERO)
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            if (mail.no() < 0 || (mail.no() % 2 == 0 && job.attempt() == 1)) {
                                throw new IllegalStateException("no");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2))))) {
            TestRowlock.soon().until(() -> schema.count("SELECT count(*) FROM rowlock_job") == 1);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.state(dead)).isEqualTo(JobState.DEAD);
        assertThat(schema.list(Long.class, "SELECT DISTINCT job_id FROM rowlock_job_failure"))
                .containsExactly(dead);
        assertThat(rowlock.events(JobCompleted.class))
                .extracting(JobCompleted::id)
                .containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    @Tag("P13")
    void a_job_written_under_an_alias_is_run_by_the_handler_of_the_new_name() throws Exception {
        @Kind(value = "new-name", aliases = "old-name")
        record Renamed(int no) {}
        schema.execute("INSERT INTO rowlock_job (kind, payload) VALUES ('old-name', '{\"no\":1}')");
        long id = rowlock.enqueue(new Renamed(2)).id();
        Set<String> ran = ConcurrentHashMap.newKeySet();

        try (Worker worker = rowlock.work(
                w -> w.handle(Renamed.class, (payload, job) -> ran.add(job.kind() + ' ' + payload.no())))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(ran).containsExactlyInAnyOrder("old-name 1", "new-name 2");
        assertThat(rowlock.job(id).kind()).isEqualTo("new-name");
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(2);
    }

    @Test
    void the_idempotency_key_is_the_same_in_every_attempt_and_another_for_every_job() throws Exception {
        rowlock.enqueueAll(List.of(new Mail(1), new Mail(2)), o -> o.maxAttempts(3));
        Map<Integer, Set<String>> keys = new ConcurrentHashMap<>();

        runToTheEnd((mail, job) -> {
            keys.computeIfAbsent(mail.no(), no -> ConcurrentHashMap.newKeySet()).add(job.idempotencyKey());
            throw new IllegalStateException("again");
        });

        assertThat(keys.get(1)).hasSize(1);
        assertThat(keys.get(2)).hasSize(1).doesNotContainAnyElementsOf(keys.get(1));
    }

    /** Runs mails and text messages until none is left to be done; retries come at once. Gives the worker's id. */
    private String runToTheEnd(JobHandler<Mail> handler) throws Exception {
        RetryPolicy policy = RetryPolicy.fixed(Duration.ZERO).maxAttempts(5).neverOn(java.net.SocketException.class);
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, handler, h -> h.retry(policy))
                .handle(Sms.class, (sms, job) -> handler.handle(new Mail(sms.no()), job), h -> h.retry(policy)))) {
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
            return worker.id();
        }
    }
}
