package io.rowlock.alert;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listeners hear of an alert when its row is made and committed, with the death that is its cause. */
@PostgresTest
final class AlertRaisedIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestSchema schema;
    private TestRowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    private List<String> raised() {
        return rowlock.events(AlertRaised.class).stream()
                .map(event -> event.cause() + ": " + event.kind())
                .toList();
    }

    @Test
    void what_is_counted_up_is_not_told_again() throws Exception {
        for (int i = 0; i < 3; i++) {
            rowlock.enqueue(new Mail(i));
        }
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(Mail.class, (mail, job) -> {
                    throw new PermanentFailure("no");
                }))) {
            worker.drain();
        }
        assertThat(rowlock.events(JobDied.class)).hasSize(3);
        assertThat(raised()).containsExactly("job dead: mail");
        AlertRaised event = rowlock.events(AlertRaised.class).get(0);
        assertThat(rowlock.rowlock().alerts().find(event.id()).orElseThrow().count())
                .isEqualTo(3);
    }

    @Test
    void a_dead_head_is_told_of_beside_the_death() throws Exception {
        rowlock.enqueueAll(List.of(new Mail(1), new Mail(2)), options -> options.orderingKey("a"));
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            throw new PermanentFailure("no");
        }))) {
            soon().until(() -> raised().size() == 2);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(raised()).containsExactly("head of a key dead: mail", "job dead: mail");
    }

    @Test
    void a_death_that_is_rolled_back_has_no_alert_and_nobody_hears_of_one() throws Exception {
        AtomicBoolean refusing = new AtomicBoolean(true);
        long id = rowlock.enqueue(new Mail(1)).id();
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(w -> w.handle(
                        Mail.class,
                        (mail, job) -> {
                            throw new PermanentFailure("no");
                        },
                        options -> options.onDeath((connection, job) -> {
                            if (refusing.get()) {
                                throw new IllegalStateException("not now");
                            }
                        })))) {
            worker.drain();
            assertThat(rowlock.events(JobRetried.class)).hasSize(1);
            assertThat(rowlock.state(id)).isEqualTo(JobState.READY);
            assertThat(schema.count("SELECT count(*) FROM rowlock_alert")).isZero();
            assertThat(raised()).isEmpty();

            refusing.set(false);
            worker.bringForward();
            worker.drain();
        }
        assertThat(rowlock.state(id)).isEqualTo(JobState.DEAD);
        assertThat(raised()).containsExactly("job dead: mail");
    }
}
