package io.rowlock.event;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.AttemptEnded;
import io.rowlock.event.RowlockEvent.AttemptStarted;
import io.rowlock.event.RowlockEvent.JobCancelled;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobEvent;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.JobRevived;
import io.rowlock.event.RowlockEvent.JobsEnqueued;
import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.schedule.Schedule;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What listeners are told of a job on its way. */
@PostgresTest
final class EventsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestSchema schema;
    private TestRowlock rowlock;
    private final AtomicReference<RowlockListener> more = new AtomicReference<>(event -> {});

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(
                schema, builder -> builder.listener(event -> more.get().on(event)));
    }

    @Test
    void what_people_cancel_and_revive_is_told_when_it_is_committed_with_who_and_why() throws Exception {
        By ada = new By("ada", "test");
        Jobs jobs = rowlock.rowlock().jobs();
        long one = rowlock.enqueue(new Mail(1)).id();
        long two = rowlock.enqueue(new Mail(2)).id();

        jobs.cancel(one, ada);
        jobs.cancel(one, ada);
        jobs.revive(one, ada);
        jobs.revive(one, ada);
        jobs.changeAll(JobQuery.all(), new JobChange.Cancel(), ada, tally -> {});
        jobs.changeAll(JobQuery.all(), new JobChange.Revive(), ada, tally -> {});

        assertThat(rowlock.events(JobEvent.class))
                .filteredOn(event -> event.id() == one)
                .containsExactly(
                        new JobCancelled(one, "default", "mail", "cancelled by ada: test"),
                        new JobRevived(one, "default", "mail", "revived by ada: test"),
                        new JobCancelled(one, "default", "mail", "cancelled by ada: test"),
                        new JobRevived(one, "default", "mail", "revived by ada: test"));
        assertThat(rowlock.events(JobEvent.class))
                .filteredOn(event -> event.id() == two)
                .hasSize(2);
    }

    @Test
    void a_cancel_that_a_worker_carries_out_later_is_told_by_that_worker() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, run_at)"
                + " VALUES ('mail', '{\"no\":1}', clock_timestamp() + interval '1 hour')");
        schema.execute("INSERT INTO rowlock_cancel_request (job_id, reason)"
                + " SELECT id, 'cancelled by ada: test' FROM rowlock_job UNION ALL VALUES (4711, 'gone')");
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {}))) {
            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_cancel_request") == 0
                    && !rowlock.events(JobCancelled.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.events(JobCancelled.class)).singleElement().satisfies(cancelled -> {
            assertThat(cancelled.kind()).isEqualTo("mail");
            assertThat(cancelled.reason()).isEqualTo("cancelled by ada: test");
        });
    }

    @Test
    void attempts_are_told_with_their_times_queue_and_kind_in_their_order() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, run_at)"
                + " VALUES ('mail', '{\"no\":1}', clock_timestamp() - interval '1 hour')");
        long id = schema.count("SELECT max(id) FROM rowlock_job");
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(
                        Mail.class,
                        (mail, job) -> {
                            if (job.attempt() == 1) {
                                throw new IllegalStateException("no");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(5))))) {
            worker.drain();
        }

        List<JobEvent> events = rowlock.events(JobEvent.class);
        assertThat(events)
                .satisfiesExactly(
                        started -> assertThat(((AttemptStarted) started).waited())
                                .isBetween(Duration.ofMinutes(60), Duration.ofMinutes(90)),
                        ended -> assertThat(((AttemptEnded) ended).thrown()).hasMessage("no"),
                        retried -> assertThat(((JobRetried) retried).attempt()).isEqualTo(1),
                        started -> {
                            assertThat(((AttemptStarted) started).attempt()).isEqualTo(2);
                            assertThat(((AttemptStarted) started).waited()).isLessThan(Duration.ofMinutes(30));
                        },
                        ended -> {
                            assertThat(((AttemptEnded) ended).thrown()).isNull();
                            assertThat(((AttemptEnded) ended).took()).isPositive();
                        },
                        completed -> assertThat(completed).isEqualTo(new JobCompleted(id, "default", "mail", 2)))
                .allSatisfy(event -> {
                    assertThat(event.id()).isEqualTo(id);
                    assertThat(event.queue()).isEqualTo("default");
                    assertThat(event.kind()).isEqualTo("mail");
                });
    }

    @Test
    void job_due_since_minus_infinity_has_waited_a_century_and_keyed_ones_as_others() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, run_at, ordering_key)"
                + " VALUES ('mail', '{\"no\":1}', '-infinity', null),"
                + " ('mail', '{\"no\":2}', clock_timestamp() - interval '1 hour', 'a')");
        try (HandCrankedWorker worker =
                rowlock.rowlock().handCrankedWorker(config -> config.handle(Mail.class, (mail, job) -> {}))) {
            worker.drain();
        }

        assertThat(rowlock.events(AttemptStarted.class))
                .extracting(started -> started.waited().toDays())
                .containsExactlyInAnyOrder(36_500L, 0L);
    }

    @Test
    void enqueues_are_told_on_their_thread_whether_or_not_they_commit() throws Exception {
        AtomicReference<Thread> thread = new AtomicReference<>();
        more.set(event -> thread.set(Thread.currentThread()));
        List<Enqueued> written;
        try (Connection connection = schema.begin()) {
            written = List.of(
                    rowlock.rowlock().outbox().enqueue(connection, new Mail(1), job -> job.dedupKey("a")),
                    rowlock.rowlock().outbox().enqueue(connection, new Mail(2), job -> job.dedupKey("a")));
            assertThat(rowlock.rowlock().outbox().enqueueAll(connection, List.of()))
                    .isEmpty();
            connection.rollback();
        }

        assertThat(thread.get()).isSameAs(Thread.currentThread());
        assertThat(rowlock.events(JobsEnqueued.class))
                .extracting(told -> told.jobs())
                .containsExactly(List.of(written.get(0)), List.of(written.get(1)));
        assertThat(written.get(1).duplicate()).isTrue();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isZero();
    }

    @Test
    void schedule_that_made_a_job_is_told() throws Exception {
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {})
                .schedule(Schedule.fixedRate("daily", Duration.ofDays(1)).job(new Mail(1))))) {
            schema.execute("UPDATE rowlock_schedule SET next_at = clock_timestamp()");
            rowlock.rowlock()
                    .schedules()
                    .declare(Schedule.fixedRate("other", Duration.ofDays(1)).job(new Mail(2)));
            soon().until(() -> !rowlock.events(JobCompleted.class).isEmpty());
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.events(ScheduleFired.class)).singleElement().satisfies(fired -> {
            assertThat(fired.schedule()).isEqualTo("daily");
            assertThat(fired.jobs()).extracting(Enqueued::kind).containsExactly("mail");
        });
    }

    @Test
    @Tag("P10")
    @Tag("P15")
    @Tag("B41")
    void listener_that_throws_at_everything_neither_poisons_a_transaction_nor_stops_a_job() throws Exception {
        more.set(event -> {
            throw new AssertionError("a broken listener");
        });
        try (Worker worker = rowlock.work(w -> w.handle(
                Mail.class,
                (mail, job) -> {
                    if (mail.no() == 2 && job.attempt() == 1) {
                        throw new IllegalStateException("no");
                    }
                },
                h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2))))) {
            rowlock.enqueueAll(List.of(new Mail(1), new Mail(2), new Mail(3)));
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }

        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(3);
    }
}
