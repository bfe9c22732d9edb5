package io.rowlock.alert;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each alert is told to each sink, by jobs that are written in the transaction that marks it as told. */
@PostgresTest
final class TellIT {
    @Kind("mail")
    private record Mail(int no) {}

    @Kind("other")
    private record Other() {}

    private final List<String> told = new CopyOnWriteArrayList<>();
    private final AlertSink listening =
            (alert, delivery) -> told.add(alert.cause() + ": " + alert.kind() + " x " + alert.count());
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) {
        this.schema = schema;
    }

    private TestRowlock withSink(AlertSink sink) throws Exception {
        return TestRowlock.fresh(schema, builder -> builder.alertSink("chat", sink));
    }

    private static HandCrankedWorker deadly(TestRowlock rowlock) {
        return rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {
                    throw new PermanentFailure("no such address");
                }));
    }

    private void die(TestRowlock rowlock, int times) throws Exception {
        List<Mail> mails = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            mails.add(new Mail(i));
        }
        rowlock.enqueueAll(mails);
        try (HandCrankedWorker worker = deadly(rowlock)) {
            worker.drain();
        }
    }

    private long deliveries() throws Exception {
        return schema.count("SELECT count(*) FROM rowlock_job WHERE queue = 'rowlock-alerts'");
    }

    @Test
    void a_death_is_told_once_and_again_when_there_are_ten() throws Exception {
        TestRowlock rowlock = withSink(listening);

        die(rowlock, 1);
        assertThat(told).containsExactly("job dead: mail x 1");
        die(rowlock, 8);
        assertThat(told).as("nine are no news").hasSize(1);
        die(rowlock, 5);
        assertThat(told).as("as it is by then").containsExactly("job dead: mail x 1", "job dead: mail x 14");
        die(rowlock, 20);
        assertThat(told).as("the next is a hundred").hasSize(2);
    }

    @Test
    void a_worker_with_threads_tells_by_itself() throws Exception {
        TestRowlock rowlock = withSink(listening);
        rowlock.enqueue(new Mail(1));
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            throw new PermanentFailure("no such address");
        }))) {
            soon().until(() -> told.size() == 1);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.events(AlertRaised.class))
                .singleElement()
                .satisfies(raised -> assertThat(raised.cause()).isEqualTo("job dead"));
        assertThat(rowlock.events(LoopFailed.class)).isEmpty();
    }

    @Test
    @Tag("P10")
    void a_sink_that_hangs_and_ignores_interrupts_keeps_no_other_from_being_told() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        AtomicInteger hanging = new AtomicInteger();
        TestRowlock rowlock = TestRowlock.fresh(
                schema,
                builder -> builder.alertSink("mail", (alert, delivery) -> {
                            hanging.incrementAndGet();
                            Uninterrupted.await(released);
                        })
                        .alertSink("chat", listening));
        schema.execute(
                "INSERT INTO rowlock_alert (cause, kind, bucket, reason)"
                        + " SELECT 'job dead', 'kind-' || n, date_trunc('hour', clock_timestamp()), 'r' FROM generate_series(1, 30) n");
        try (Worker worker = rowlock.work(w -> w.handle(Other.class, (o, job) -> {}))) {
            try {
                soon().until(() -> told.size() == 30);
                soon().until(() -> hanging.get() == 2);
                assertThat(worker.health().running())
                        .as("a bounded number of threads hangs, and no more")
                        .isEqualTo(2);
                assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE kind = 'rowlock-alert:mail'"
                                + " AND state = 'ready' AND attempts = 0"))
                        .as("the others wait, and are in nobody's hands")
                        .isEqualTo(28);
            } finally {
                released.countDown();
            }
        }
    }

    /** Waits as a call does that knows of no interrupt. */
    private static final class Uninterrupted {
        static void await(CountDownLatch latch) {
            boolean interrupted = false;
            while (latch.getCount() > 0) {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Test
    @Tag("P12")
    void a_sink_of_another_process_is_told_there_whoever_marks_the_alert() throws Exception {
        TestRowlock rowlock = withSink(listening);
        List<String> elsewhere = new CopyOnWriteArrayList<>();
        Rowlock other = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .alertSink("pager", (alert, delivery) -> elsewhere.add(alert.kind()))
                .build();
        try (HandCrankedWorker worker = other.handCrankedWorker(w -> w.handle(Other.class, (o, job) -> {}))) {
            worker.drain(); // says that it is there

            die(rowlock, 1);

            assertThat(told).hasSize(1);
            assertThat(elsewhere).isEmpty();
            assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE kind = 'rowlock-alert:pager'"
                            + " AND state = 'ready' AND attempts = 0"))
                    .as("left alone by who does not have it")
                    .isEqualTo(1);
            worker.drain();
        }
        assertThat(elsewhere).containsExactly("mail");
        assertThat(told).hasSize(1);
    }

    @Test
    void a_sink_that_nobody_had_for_a_day_is_told_nothing_more() throws Exception {
        TestRowlock rowlock = withSink(listening);
        schema.execute("INSERT INTO rowlock_alert_sink VALUES ('gone', clock_timestamp() - interval '25 hours')");

        die(rowlock, 1);

        assertThat(deliveries()).isEqualTo(1);
    }

    @Test
    void two_workers_tell_each_alert_once() throws Exception {
        TestRowlock rowlock = withSink(listening);
        schema.execute(
                "INSERT INTO rowlock_alert (cause, kind, bucket, reason)"
                        + " SELECT 'job dead', 'kind-' || n, date_trunc('hour', clock_timestamp()), 'r' FROM generate_series(1, 250) n");
        try (Worker one = rowlock.work(w -> w.handle(Other.class, (o, job) -> {}));
                Worker two = rowlock.work(w -> w.handle(Other.class, (o, job) -> {}))) {
            soon().until(() -> told.size() >= 250);
            soon().until(() -> schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'ready'") == 0);
            assertThat(one.health().up() && two.health().up()).isTrue();
        }
        assertThat(told).hasSize(250).doesNotHaveDuplicates();
        assertThat(deliveries()).isEqualTo(250);
    }

    @Test
    @Tag("P1")
    void an_alert_stays_untold_where_the_jobs_that_tell_of_it_are_not_written() throws Exception {
        TestRowlock rowlock = withSink(listening);
        schema.execute("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " IF NEW.kind = 'rowlock-alert:chat' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
                + " RETURN NEW; END $$;"
                + "CREATE TRIGGER refuse BEFORE INSERT ON rowlock_job FOR EACH ROW EXECUTE FUNCTION refuse()");
        assertThatThrownBy(() -> die(rowlock, 1)).isInstanceOf(DatabaseException.class);

        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE untold"))
                .isEqualTo(1);
        assertThat(deliveries()).isZero();

        schema.execute("DROP TRIGGER refuse ON rowlock_job");
        try (HandCrankedWorker worker = deadly(rowlock)) {
            worker.drain();
        }
        assertThat(told).hasSize(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE untold"))
                .isZero();
    }

    @Test
    void what_a_person_has_taken_over_is_not_told_any_more() throws Exception {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        TestRowlock rowlock = withSink((alert, delivery) -> {
            attempts.add(delivery.attempt());
            throw new IllegalStateException("the chat is away");
        });
        die(rowlock, 1);
        assertThat(attempts).containsExactly(1);

        rowlock.rowlock().alerts().acknowledgeAll(AlertFilter.all(), new By("ada", "seen"));
        try (HandCrankedWorker worker = deadly(rowlock)) {
            worker.bringForward();
            worker.drain();
        }

        assertThat(attempts).hasSize(1);
        assertThat(schema.list(String.class, "SELECT state FROM rowlock_job WHERE queue = 'rowlock-alerts'"))
                .containsExactly("completed");
    }

    @Test
    void each_attempt_of_a_delivery_has_the_same_key_and_each_delivery_another() throws Exception {
        List<String> keys = new CopyOnWriteArrayList<>();
        TestRowlock rowlock = withSink((alert, delivery) -> {
            keys.add(delivery.key());
            if (delivery.attempt() == 1) {
                throw new AssertionError("an Error counts as a failure, and no more");
            }
        });
        die(rowlock, 1);
        try (HandCrankedWorker worker = deadly(rowlock)) {
            worker.bringForward();
            worker.drain();
        }
        die(rowlock, 9);

        assertThat(keys).hasSize(3);
        assertThat(keys.get(0)).isEqualTo(keys.get(1)).isNotEqualTo(keys.get(2));
    }

    @Test
    void a_delivery_that_dies_is_an_alert_that_no_sink_is_told_of() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(
                schema,
                builder -> builder.alertSink("chat", (alert, delivery) -> {
                            throw new PermanentFailure("no such chat");
                        })
                        .alertSink("pager", listening));
        die(rowlock, 1);
        try (HandCrankedWorker worker = deadly(rowlock)) {
            worker.drain();
        }

        assertThat(told).containsExactly("job dead: mail x 1");
        assertThat(rowlock.rowlock().alerts().open(AlertFilter.all(), null, 10))
                .extracting(Alert::kind)
                .containsExactlyInAnyOrder("mail", "rowlock-alert:chat");
        assertThat(deliveries()).isEqualTo(2);
        assertThat(rowlock.count(JobState.DEAD)).isEqualTo(2);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE untold"))
                .isZero();
    }

    @Test
    void one_locked_alert_keeps_no_other_from_being_told() throws Exception {
        TestRowlock rowlock = withSink(listening);
        schema.execute(
                "INSERT INTO rowlock_alert (cause, kind, bucket, reason)"
                        + " SELECT 'job dead', kind, date_trunc('hour', clock_timestamp()), 'r' FROM unnest(ARRAY['a', 'b']) AS kind");
        try (var holder = schema.begin();
                var lock = holder.createStatement();
                HandCrankedWorker worker = deadly(rowlock)) {
            lock.execute("SELECT 1 FROM rowlock_alert WHERE kind = 'a' FOR UPDATE");
            worker.drain();
            assertThat(told).containsExactly("job dead: b x 1");
            holder.rollback();
            worker.drain();
        }
        assertThat(told).containsExactly("job dead: b x 1", "job dead: a x 1");
    }

    @Test
    void what_is_a_day_old_or_of_before_the_tables_knew_of_sinks_is_not_told() throws Exception {
        TestRowlock rowlock = withSink(listening);
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, reason, last_at, untold) VALUES"
                + " ('job dead', 'a', '2026-01-01Z', 'r', clock_timestamp() - interval '25 hours', true),"
                + " ('job dead', 'b', '2026-01-01Z', 'r', clock_timestamp(), false)");
        try (HandCrankedWorker worker = deadly(rowlock)) {
            worker.drain();
        }
        assertThat(told).isEmpty();
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE untold"))
                .isZero();
    }

    @Test
    void names_of_rowlocks_own_are_refused() throws Exception {
        Rowlock rowlock = withSink(listening).rowlock();
        assertThatThrownBy(() -> rowlock.worker(
                        w -> w.handle(JobKind.named("rowlock-alert:mine", Long.class), (payload, job) -> {})))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Rowlock's own");
        assertThatThrownBy(() ->
                        rowlock.worker(w -> w.queue("rowlock-alerts", 3).handle(Other.class, (payload, job) -> {})))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Rowlock's own");
        assertThatThrownBy(() -> Rowlock.builder().alertSink("a", listening).alertSink("a", listening))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> Rowlock.builder().alertSink(" ", listening)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> Rowlock.builder().alertSink("a".repeat(101), listening))
                .isInstanceOf(InvalidUseException.class);
    }
}
