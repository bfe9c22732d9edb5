package io.rowlock.wake;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.fixture.Watched;
import io.rowlock.job.By;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One Rowlock writes, another works, as in two processes: they have nothing in common but the database. The worker polls
 * once an hour, so what runs in these tests runs because it was told.
 */
@PostgresTest
@Timeout(120)
final class NotificationsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private final TestSchema schema;
    private final AtomicBoolean failing = new AtomicBoolean();
    private TestRowlock there;
    private Rowlock here;
    private Worker worker;

    NotificationsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void start() throws Exception {
        there = TestRowlock.fresh(schema, builder -> builder.notifications(true));
        here = rowlock(true);
        worker =
                there.start(w -> w.poll(Duration.ofHours(1)).queue("default", 4).handle(Mail.class, (mail, job) -> {
                    if (failing.get()) {
                        throw new PermanentFailure("as told");
                    }
                }));
        TestRowlock.soon().until(() -> worker.health().sinceClaim() != null);
    }

    @AfterEach
    void stop() {
        worker.close();
    }

    @Test
    void a_job_committed_here_runs_at_once_there() throws Exception {
        for (int no = 1; no <= 10; no++) {
            Enqueued job = there.enqueue(new Mail(no));
            here.wake(List.of(job));
            there.awaitState(job.id(), JobState.COMPLETED);
        }
        assertThat(worker.health().up()).isTrue();
    }

    @Test
    @Tag("P11")
    void so_does_a_job_with_an_ordering_key() throws Exception {
        for (int no = 1; no <= 5; no++) {
            Enqueued job = there.enqueue(new Mail(no), options -> options.orderingKey("Order:42"));
            here.wake(List.of(job));
            there.awaitState(job.id(), JobState.COMPLETED);
        }
    }

    @Test
    @Tag("P2")
    void so_does_a_job_whose_transaction_was_open_for_longer_than_the_watermarks_slack() throws Exception {
        for (int no = 1; no <= 5; no++) {
            Enqueued job = late(no, options -> {});
            here.wake(List.of(job));
            there.awaitState(job.id(), JobState.COMPLETED);
        }
        Enqueued keyed = late(6, options -> options.orderingKey("Order:43"));
        here.wake(List.of(keyed));
        there.awaitState(keyed.id(), JobState.COMPLETED);
    }

    @Test
    @Tag("P14")
    void too_many_lanes_for_one_text_have_the_others_look_everywhere() throws Exception {
        Enqueued late = late(1, options -> {});
        List<JobRequest<?>> many = new ArrayList<>();
        for (int no = 0; no < 300; no++) {
            many.add(JobRequest.of(JobKind.named("kind-" + no, Mail.class), new Mail(no), options -> {}));
        }
        List<Enqueued> all =
                new ArrayList<>(there.commit(connection -> here.outbox().enqueueAll(connection, many)));
        all.add(late);
        try (Witness witness = new Witness(schema)) {
            here.wake(all);
            assertThat(witness.next()).endsWith("\n* " + late.runAt());
        }
        there.awaitState(late.id(), JobState.COMPLETED);
    }

    @Test
    void a_revived_job_and_a_resumed_queue_wake_the_others_too() throws Exception {
        failing.set(true);
        Enqueued job = there.enqueue(new Mail(1));
        here.wake(List.of(job));
        there.awaitState(job.id(), JobState.DEAD);
        failing.set(false);
        here.jobs().revive(job.id(), new By("anna", "fixed"));
        there.awaitState(job.id(), JobState.COMPLETED);

        here.queues().pause("default", new By("anna", "calm"));
        Enqueued paused = there.enqueue(new Mail(2));
        here.queues().resume("default", new By("anna", "on"));
        there.awaitState(paused.id(), JobState.COMPLETED);
    }

    @Test
    @Tag("P10")
    void what_others_say_on_the_channel_is_ignored() throws Exception {
        try (Witness witness = new Witness(schema)) {
            for (String garbage : List.of(
                    "",
                    "hello",
                    "rowlock-1",
                    "rowlock-1 ",
                    "rowlock-2 x\n*",
                    "rowlock-1 x\n1 default mail 1 free yesterday",
                    "rowlock-1 x\n1 default",
                    "rowlock-1 x\n* never",
                    "rowlock-1 x\n* -1000000000-01-01T00:00:00Z",
                    "rowlock-1 x\n* -4000-01-01T00:00:00Z",
                    "rowlock-1 x\n1 %zz mail 1 free 2026-01-01T00:00:00Z",
                    "\n".repeat(7_000),
                    "\u00e4\u20ac")) {
                witness.say(garbage);
            }
        }
        Enqueued job = there.enqueue(new Mail(1));
        here.wake(List.of(job));
        there.awaitState(job.id(), JobState.COMPLETED);
        assertThat(worker.health().up()).isTrue();
        assertThat(there.events(LoopFailed.class)).isEmpty();
    }

    @Test
    @Tag("B60")
    void without_being_asked_for_nothing_is_sent() throws Exception {
        Rowlock quiet = rowlock(false);
        try (Witness witness = new Witness(schema)) {
            quiet.wake(List.of(there.enqueue(new Mail(1))));
            Enqueued second = there.enqueue(new Mail(2));
            here.wake(List.of(second));
            assertThat(witness.next()).contains("\n" + second.id() + " default mail ");
        }
    }

    @Test
    @Tag("B60")
    void no_notification_is_sent_in_the_transaction_of_an_enqueue() throws Exception {
        TellingTransactions transactions = new TellingTransactions(schema);
        Rowlock telling = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .notifications(true)
                .afterCommit(transactions)
                .build();
        List<String> statements = new ArrayList<>();
        Enqueued job = transactions.commit(connection -> {
            Watched watched = Watched.over(connection);
            Enqueued written = telling.outbox().enqueue(watched.connection(), new Mail(1));
            assertThat(transactions.registered(connection)).isEqualTo(1);
            statements.addAll(watched.statements());
            return written;
        });
        there.awaitState(job.id(), JobState.COMPLETED);
        assertThat(statements)
                .isNotEmpty()
                .noneMatch(sql -> sql.toLowerCase(Locale.ROOT).contains("notify"));
    }

    private Rowlock rowlock(boolean notifications) {
        return Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .notifications(notifications)
                .build();
    }

    /** Writes and commits a job as if its transaction had been open for an hour. */
    private Enqueued late(int no, Consumer<JobOptions> options) throws Exception {
        Duration open = Duration.ofHours(1);
        try (Connection connection = schema.begin()) {
            Enqueued job = here.outbox().enqueue(connection, new Mail(no), options);
            try (var update = connection.prepareStatement(
                    "UPDATE rowlock_job SET run_at = run_at - interval '1 hour' WHERE id = ?")) {
                update.setLong(1, job.id());
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
