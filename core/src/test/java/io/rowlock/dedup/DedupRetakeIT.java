package io.rowlock.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.fixture.Watched;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Job;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.Outbox;
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
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of the dedup key of a job that was started and waits again. */
@PostgresTest
final class DedupRetakeIT {
    private static final Duration HOUR = Duration.ofHours(1);

    @Kind("mail")
    private record Mail(int no) {}

    @Kind("sms")
    private record Sms(int no) {}

    private TestRowlock rowlock;
    private TestSchema schema;
    private Outbox outbox;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        outbox = rowlock.rowlock().outbox();
    }

    private Enqueued mail(int no, DedupMode mode) throws Exception {
        return rowlock.enqueue(new Mail(no), o -> o.dedupKey("a", mode).after(no == 1 ? Duration.ZERO : HOUR));
    }

    private void run(JobHandler<Mail> handler) {
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(Mail.class, handler, h -> h.retry(RetryPolicy.fixed(HOUR))))) {
            assertThat(worker.runNext()).isTrue();
        }
    }

    private static void fail() {
        throw new IllegalStateException("no route to mail server");
    }

    @ParameterizedTest
    @EnumSource(
            value = DedupMode.class,
            names = {"KEEP", "REPLACE", "PUSH_BACK"})
    void a_job_that_waits_for_its_retry_holds_its_key_again(DedupMode mode) throws Exception {
        long id = mail(1, mode).id();

        run((mail, job) -> fail());

        Enqueued second = mail(2, mode);
        assertThat(second.duplicate()).isTrue();
        assertThat(second.id()).isEqualTo(id);
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(1);
        assertThat(rowlock.content(id).payload()).isEqualTo(mode == DedupMode.REPLACE ? "{\"no\":2}" : "{\"no\":1}");
        assertThat(rowlock.events(JobMerged.class)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = DedupMode.class,
            names = {"KEEP", "REPLACE", "PUSH_BACK"})
    void a_job_to_be_retried_while_another_waits_under_its_key_is_merged_into_that(DedupMode mode) throws Exception {
        long first = mail(1, mode).id();
        List<Long> second = new ArrayList<>();

        run((mail, job) -> {
            second.add(mail(2, mode).id());
            fail();
        });

        Job merged = rowlock.job(first);
        assertThat(merged.state()).isEqualTo(JobState.CANCELLED);
        assertThat(merged.progress().lastError()).isEqualTo("duplicate of " + second.get(0));
        assertThat(merged.progress().attempts()).isEqualTo(1);
        assertThat(merged.progress().finishedAt()).isNotNull();
        assertThat(rowlock.rowlock().jobs().failures(first)).hasSize(1);
        assertThat(rowlock.state(second.get(0))).isEqualTo(JobState.READY);
        assertThat(mail(3, mode).id()).isEqualTo(second.get(0));
        assertThat(rowlock.events(JobRetried.class)).hasSize(1);
        assertThat(rowlock.events(JobMerged.class))
                .containsExactly(new JobMerged(first, "default", "mail", second.get(0)));
    }

    @Test
    void a_snoozed_job_holds_its_key_again() throws Exception {
        long id = mail(1, DedupMode.KEEP).id();

        run((mail, job) -> {
            throw new Snooze(HOUR);
        });

        assertThat(mail(2, DedupMode.KEEP).id()).isEqualTo(id);
        assertThat(rowlock.job(id).progress().attempts()).isZero();
    }

    @Test
    void so_does_one_that_a_transaction_of_its_handler_snoozed() throws Exception {
        long id = mail(1, DedupMode.KEEP).id();

        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handleTransactionally(
                        Mail.class, (mail, job, connection) -> job.snoozeIn(connection, HOUR)))) {
            assertThat(worker.runNext()).isTrue();
        }

        assertThat(mail(2, DedupMode.KEEP).id()).isEqualTo(id);
    }

    @Test
    @Tag("B43")
    void a_job_handed_back_at_a_stop_holds_its_key_again_and_is_started_by_the_next_worker() throws Exception {
        long id = mail(1, DedupMode.KEEP).id();
        stopWhileItRuns(() -> {});

        assertThat(rowlock.job(id).progress().attempts()).isZero();
        assertThat(mail(2, DedupMode.KEEP).id()).isEqualTo(id);
        run((mail, job) -> {});
        assertThat(rowlock.state(id)).isEqualTo(JobState.COMPLETED);
    }

    @Test
    @Tag("B43")
    void a_job_handed_back_while_another_waits_under_its_key_is_merged_into_that() throws Exception {
        long first = mail(1, DedupMode.KEEP).id();
        List<Long> second = new ArrayList<>();

        stopWhileItRuns(() -> second.add(mail(2, DedupMode.KEEP).id()));

        assertThat(rowlock.state(first)).isEqualTo(JobState.CANCELLED);
        assertThat(rowlock.state(second.get(0))).isEqualTo(JobState.READY);
    }

    @FunctionalInterface
    private interface Deed {
        void perform() throws Exception;
    }

    private void stopWhileItRuns(Deed deed) throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            started.countDown();
            never.await();
        }))) {
            started.await();
            deed.perform();
            worker.stop(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DedupMode.class,
            names = {"KEEP", "REPLACE"})
    @Tag("P10")
    void an_uncommitted_enqueue_of_the_key_holds_up_neither_the_retry_nor_any_other_outcome(DedupMode mode)
            throws Exception {
        long first = mail(1, mode).id();
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch started = new CountDownLatch(1);
        try (Connection connection = schema.begin();
                Worker worker = rowlock.work(w -> w.handle(
                                Mail.class,
                                (mail, job) -> {
                                    started.countDown();
                                    written.await();
                                    fail();
                                },
                                h -> h.retry(RetryPolicy.fixed(HOUR)))
                        .handle(Sms.class, (sms, job) -> {}))) {
            started.await();
            long second = outbox.enqueue(
                            connection, new Mail(2), o -> o.dedupKey("a", mode).after(HOUR))
                    .id();
            written.countDown();
            TestRowlock.soon().until(() -> rowlock.events(JobRetried.class).size() == 1);
            for (int no = 0; no < 5; no++) {
                rowlock.awaitState(rowlock.enqueue(new Sms(no)).id(), JobState.COMPLETED);
            }
            assertThat(rowlock.state(first)).isEqualTo(JobState.READY);
            assertThat(rowlock.job(first).lease().owner()).isNull();

            if (mode == DedupMode.KEEP) {
                connection.commit();
                rowlock.awaitState(first, JobState.CANCELLED);
                assertThat(rowlock.state(second)).isEqualTo(JobState.READY);
            } else {
                connection.rollback();
                rowlock.awaitZero("SELECT 1 - count(*) FROM rowlock_job WHERE waiting_key = 'a'");
                assertThat(mail(3, mode).id()).isEqualTo(first);
            }
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void of_two_put_back_together_with_one_key_one_is_merged_into_the_other() throws Exception {
        long first = mail(1, DedupMode.KEEP).id();
        CountDownLatch both = new CountDownLatch(2);
        try (Worker worker = rowlock.work(w -> w.queue("default", 2)
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            if (mail.no() == 1) {
                                rowlock.enqueue(new Mail(2), o -> o.dedupKey("a"));
                            }
                            both.countDown();
                            both.await();
                            fail();
                        },
                        h -> h.retry(RetryPolicy.fixed(HOUR))))) {
            TestRowlock.soon().until(() -> rowlock.count(JobState.CANCELLED) == 1);
            rowlock.awaitZero("SELECT 1 - count(*) FROM rowlock_job WHERE state = 'ready' AND waiting_key = 'a'");
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.job(first).progress().attempts()).isEqualTo(1);
        assertThat(rowlock.events(JobMerged.class)).hasSize(1);
    }

    @Test
    @Tag("P8")
    void a_rescued_job_holds_its_key_again_or_is_merged_and_no_rescue_fails() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        rowlock.enqueue(new Sms(1));
        // its only thread is taken, so that what it rescues stays where it is
        try (Worker worker = rowlock.work(w -> w.queue("default", 1)
                .handle(Sms.class, (sms, job) -> {
                    begun.countDown();
                    never.await();
                })
                .handle(Mail.class, (mail, job) -> fail(), h -> h.retry(RetryPolicy.fixed(HOUR))))) {
            begun.await();
            long alone = rowlock.enqueue(new Mail(1), o -> o.dedupKey("alone")).id();
            long merged = rowlock.enqueue(new Mail(2), o -> o.dedupKey("both")).id();
            long other = rowlock.commit(connection -> {
                try (var statement = connection.createStatement()) {
                    statement.execute(
                            "UPDATE rowlock_job SET locked_by = 'gone', locked_until = clock_timestamp(), token = 1,"
                                    + " attempts = 1, waiting_key = NULL WHERE kind <> 'sms'");
                }
                return rowlock.rowlock()
                        .outbox()
                        .enqueue(
                                connection, new Mail(3), o -> o.dedupKey("both").after(HOUR))
                        .id();
            });

            rowlock.awaitState(merged, JobState.CANCELLED);
            TestRowlock.soon()
                    .until(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE waiting_key = 'alone'") == 1);
            worker.stop(Duration.ZERO);
            assertThat(rowlock.events(JobRescued.class)).hasSize(2);
            assertThat(rowlock.job(merged).progress().lastError()).isEqualTo("duplicate of " + other);
            assertThat(rowlock.enqueue(new Mail(4), o -> o.dedupKey("alone")).id())
                    .isEqualTo(alone);
        }
    }

    @Test
    void a_dead_job_holds_no_key() throws Exception {
        long id = rowlock.enqueue(new Mail(1), o -> o.dedupKey("a").maxAttempts(1))
                .id();

        run((mail, job) -> fail());

        assertThat(rowlock.state(id)).isEqualTo(JobState.DEAD);
        assertThat(mail(2, DedupMode.KEEP).duplicate()).isFalse();
    }

    /** A retry, a snooze and a rescue of a job, with what options it may have. */
    private long lookUps(Consumer<JobOptions> options) throws Exception {
        Queue<Watched> connections = new ConcurrentLinkedQueue<>();
        Rowlock watched = Rowlock.builder()
                .schema(schema.name())
                .connections(() -> {
                    Watched connection = Watched.over(schema.connect());
                    connections.add(connection);
                    return connection.connection();
                })
                .build();
        Enqueued lost = rowlock.enqueue(new Mail(1), options);
        schema.update(
                "UPDATE rowlock_job SET locked_by = 'gone', locked_until = clock_timestamp(), token = 1, attempts = 1,"
                        + " waiting_key = NULL WHERE id = ?",
                lost.id());
        schema.update("INSERT INTO rowlock_key (queue, ordering_key) SELECT queue, ordering_key FROM rowlock_job"
                + " WHERE ordering_key IS NOT NULL ON CONFLICT DO NOTHING");
        try (HandCrankedWorker worker = watched.handCrankedWorker(w -> w.handle(
                Mail.class,
                (mail, job) -> {
                    if (job.attempt() == 3) {
                        throw new Snooze(HOUR);
                    }
                    fail();
                },
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO))))) {
            TestRowlock.soon().until(worker::runNext);
            TestRowlock.soon().until(worker::runNext);
        }
        assertThat(rowlock.job(lost.id()).progress().losses()).isEqualTo(1);
        assertThat(rowlock.job(lost.id()).progress().attempts()).isEqualTo(2);
        return connections.stream()
                .flatMap(connection -> connection.statements().stream())
                .filter(sql -> sql.contains("/* rowlock:keyless */"))
                .count();
    }

    @Test
    void jobs_without_a_dedup_key_cost_no_look_up_when_they_are_put_back() throws Exception {
        assertThat(lookUps(o -> {})).isZero();
        assertThat(lookUps(o -> o.orderingKey("a"))).isZero();
        assertThat(lookUps(o -> o.dedupKey("a"))).isGreaterThanOrEqualTo(2);
        assertThat(lookUps(o -> o.dedupKey("b").orderingKey("b"))).isGreaterThanOrEqualTo(2);
    }
}
