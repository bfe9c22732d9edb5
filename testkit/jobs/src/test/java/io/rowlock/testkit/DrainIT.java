package io.rowlock.testkit;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.RowlockException;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@PostgresTest
class DrainIT {
    @Kind("mail")
    record Mail(String to) {}

    private final TestSchema schema;
    private final Rowlock rowlock;
    private final List<String> sent = new ArrayList<>();

    DrainIT(TestSchema schema) {
        this.schema = schema;
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    @BeforeEach
    void empty() throws SQLException {
        schema.execute("DELETE FROM rowlock_job");
    }

    private void enqueue(String to) throws SQLException {
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Mail(to), job -> job.subject("Order:42"));
            connection.commit();
        }
    }

    private HandCrankedWorker worker(JobHandler<Mail> handler) {
        return rowlock.handCrankedWorker(w -> w.handle(Mail.class, handler));
    }

    @Test
    void an_interrupt_ends_a_drain_after_the_attempt_that_runs() throws SQLException {
        enqueue("a@example.org");
        enqueue("b@example.org");
        try (HandCrankedWorker worker = worker((mail, job) -> {
            sent.add(mail.to());
            Thread.currentThread().interrupt();
        })) {
            assertThatThrownBy(worker::drain)
                    .isInstanceOf(RowlockException.class)
                    .hasMessageContaining("Interrupted");
            assertThat(Thread.interrupted()).as("it stays interrupted").isTrue();
            assertThat(sent).hasSize(1);
            assertThat(rowlock.jobs().counts()).containsEntry(JobState.COMPLETED, 1L);

            Thread.currentThread().interrupt();
            assertThatThrownBy(worker::runNext).isInstanceOf(RowlockException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(sent).hasSize(1);
        }
    }

    @Test
    void uncommitted_jobs_are_seen_in_their_own_transaction_only() throws SQLException {
        try (Connection connection = schema.begin()) {
            rowlock.outbox().enqueue(connection, new Mail("a@example.org"));
            assertThat(rowlock.jobs().in(connection))
                    .hasOne(Mail.class)
                    .isWaiting()
                    .hasPayload("{\"to\":\"a@example.org\"}");
            assertThat(rowlock.jobs()).hasNone(Mail.class);
            connection.rollback();
        }
    }

    @Test
    void drain_runs_what_is_due_and_what_handlers_write_meanwhile() throws SQLException {
        enqueue("first");
        try (HandCrankedWorker worker = worker((mail, job) -> {
            sent.add(mail.to());
            if (mail.to().equals("first")) {
                enqueue("second");
            }
        })) {
            assertThat(worker.drain()).isEqualTo(2);
            assertThat(worker.runNext()).isFalse();
        }
        assertThat(sent).containsExactly("first", "second");
        assertThat(rowlock.jobs()).hasCount("mail", 2);
    }

    @Test
    void a_retry_waits_until_it_is_brought_forward() throws SQLException {
        enqueue("a");
        try (HandCrankedWorker worker = worker((mail, job) -> {
            if (job.attempt() == 1) {
                throw new IllegalStateException("not yet");
            }
        })) {
            assertThat(worker.drain()).isEqualTo(1);
            assertThat(rowlock.jobs()).hasOneAbout("Order:42").isWaiting().lastFailedWith("not yet");
            assertThat(worker.bringForward()).isEqualTo(1);
            assertThat(worker.runNext()).isTrue();
        }
        assertThat(rowlock.jobs()).hasOne("mail").isCompleted().hasAttempts(2).isAbout("Order:42");
    }

    @Test
    void a_dead_letter_tells_its_reason() throws SQLException {
        enqueue("nobody");
        try (HandCrankedWorker worker = worker((mail, job) -> {
            throw new PermanentFailure("no such mailbox");
        })) {
            worker.drain();
        }
        assertThat(rowlock.jobs()).hasOne("mail").isDead("no such mailbox");
    }

    @Test
    void assertions_fail_with_the_job_in_words() throws SQLException {
        enqueue("a");
        assertThatThrownBy(() -> assertThat(rowlock.jobs()).hasOne("mail").isCompleted())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Expected a completed job")
                .hasMessageContaining("of kind mail, ready");
        assertThatThrownBy(() -> assertThat(rowlock.jobs()).hasCount("mail", 2))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("found 1");
    }

    @Test
    void a_handler_is_tested_alone() throws Exception {
        JobHandler<Mail> handler = (mail, job) -> {
            if (job.attempt() == 1) {
                throw new Snooze(Duration.ofMinutes(1));
            }
            sent.add(job.idempotencyKey() + job.headers() + job.subject());
        };
        TestJob second =
                TestJob.ofKind("mail").id(7).attempt(2, 3).subject("Order:7").header("tenant", "x");
        handler.handle(new Mail("a"), second);
        assertThat(sent).containsExactly("test-7{tenant=x}Order:7");
        assertThatThrownBy(() -> handler.handle(new Mail("a"), TestJob.ofKind("mail")))
                .isInstanceOf(Snooze.class);
        assertThat(second.wasCompleted()).isFalse();
    }
}
