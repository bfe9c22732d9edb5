package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Retention;
import io.rowlock.worker.Worker;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** After a redaction nothing that finished jobs of the subject carried, or failed with, stands in any table. */
@PostgresTest
final class JobRedactionIT {
    @Kind("letter")
    private record Letter(String text, boolean fails) {}

    private static final By ADA = new By("ada", "request 12 of the person");
    private static final String MARK = "Rumpelstiltskin";

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
    void no_column_of_any_table_has_a_trace_of_it() throws Exception {
        for (int i = 0; i < 3; i++) {
            letter(MARK, i > 0);
        }
        long cancelled = letter(MARK, false, Duration.ofDays(1));
        long dead;
        try (Worker worker = work()) {
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 1 && rowlock.count(JobState.DEAD) == 2);
            dead = schema.count("SELECT max(id) FROM rowlock_job WHERE state = 'dead'");
            assertThat(worker.health().up()).isTrue();
        }
        jobs.cancel(cancelled, ADA);
        assertThat(traces())
                .contains("rowlock_job.payload", "rowlock_job.headers", "rowlock_job.last_error")
                .contains("rowlock_job_failure.message", "rowlock_job_failure.stack", "rowlock_alert.reason");

        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(4, 0, 0, 0, 1));

        assertThat(traces()).isEmpty();
        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(0, 0, 0, 0, 0));
        assertThat(jobs.revive(dead, ADA)).as("there is nothing to run it with").isEqualTo(JobAnswer.FINISHED);
        assertThat(rowlock.state(dead)).isEqualTo(JobState.DEAD);
        assertThat(schema.count("SELECT count(job_id) * 10 + count(alert) FROM rowlock_operation"
                        + " WHERE what = 'redact' AND who = 'ada'"))
                .isEqualTo(41);
    }

    /** However the job's row came to be gone, the alert of its death is found. */
    @ParameterizedTest
    @ValueSource(strings = {"deleted by hand", "pruned", "revived, and deleted when it was completed"})
    void an_alert_is_found_though_the_row_of_its_job_is_gone(String how) throws Exception {
        long dead = letter(MARK, true);
        long other = rowlock.enqueue(
                        new Letter("other", true), o -> o.subject("Person:2").queue("other"))
                .id();
        try (Worker worker = work()) {
            rowlock.awaitState(dead, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        switch (how) {
            case "deleted by hand" -> assertThat(jobs.delete(dead, ADA)).isEqualTo(JobAnswer.DONE);
            case "pruned" -> schema.execute("DELETE FROM rowlock_job WHERE id = " + dead);
            default -> {
                assertThat(jobs.revive(dead, ADA)).isEqualTo(JobAnswer.DONE);
                try (Worker worker =
                        rowlock.work(w -> w.retention(Retention.standard().completed(Duration.ZERO))
                                .handle(Letter.class, (letter, job) -> {}))) {
                    soon().until(() -> jobs.find(dead).isEmpty());
                    assertThat(worker.health().up()).isTrue();
                }
            }
        }
        schema.execute("DELETE FROM rowlock_job_failure");
        assertThat(rowlock.state(other)).isEqualTo(JobState.READY);
        assertThat(traces()).contains("rowlock_alert.reason");

        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(0, 0, 0, 0, 1));

        assertThat(traces()).isEmpty();
        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(0, 0, 0, 0, 0));
    }

    @Test
    @Tag("P10")
    void an_alert_that_somebody_has_locked_is_left_and_counted() throws Exception {
        long dead = letter(MARK, true);
        try (Worker worker = work()) {
            rowlock.awaitState(dead, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        try (Connection other = schema.begin()) {
            other.createStatement().execute("SELECT 1 FROM rowlock_alert FOR UPDATE");
            assertThat(jobs.redact("Person:1", ADA).redacted()).isEqualTo(1);
            assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(0, 0, 0, 1, 0));
        }
        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(0, 0, 0, 0, 1));
        assertThat(traces()).isEmpty();
    }

    /** A row as the version before writes it. */
    @Test
    @Tag("B54")
    void an_alert_without_a_subject_is_found_by_its_job() throws Exception {
        long dead = letter(MARK, true);
        try (Worker worker = work()) {
            rowlock.awaitState(dead, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        schema.execute("UPDATE rowlock_alert SET subject = NULL");

        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(1, 0, 0, 0, 1));
        assertThat(traces()).isEmpty();
    }

    @Test
    void what_a_sink_says_when_it_fails_is_not_kept() throws Exception {
        TestRowlock telling = TestRowlock.beside(
                schema,
                builder -> builder.alertSink("chat", (alert, delivery) -> {
                            throw new IllegalStateException("refused", new IOException(alert.reason()));
                        })
                        .alertSink("pager", (alert, delivery) -> {
                            throw new PermanentFailure("refused: " + alert.reason());
                        })
                        .alertSink("lamp", (alert, delivery) -> {
                            throw new RetryAfter(Duration.ofDays(1), alert.reason());
                        }));
        letter(MARK, true);
        try (HandCrankedWorker worker = telling.rowlock()
                .handCrankedWorker(w -> w.handle(Letter.class, (letter, job) -> {
                    throw new PermanentFailure("no such person: " + letter.text());
                }))) {
            worker.drain();
        }
        assertThat(schema.list(
                        String.class,
                        "SELECT error_class || ' ' || message FROM rowlock_job_failure"
                                + " WHERE message LIKE 'Sink %' ORDER BY message"))
                .hasSize(3)
                .first(InstanceOfAssertFactories.STRING)
                .contains("Sink chat threw java.lang.IllegalStateException, caused by java.io.IOException;");
        assertThat(schema.list(
                        String.class,
                        "SELECT kind || ' ' || state FROM rowlock_job WHERE queue = 'rowlock-alerts'"
                                + " ORDER BY kind"))
                .containsExactly("rowlock-alert:chat ready", "rowlock-alert:lamp ready", "rowlock-alert:pager dead");

        assertThat(jobs.redact("Person:1", ADA).alerts()).isEqualTo(1);
        assertThat(traces()).isEmpty();
    }

    @Test
    void unfinished_jobs_and_those_of_others_keep_what_they_need() throws Exception {
        long waiting = letter("later", false, Duration.ofDays(1));
        long done = letter("done", false);
        long other = rowlock.enqueue(new Letter("other", false), o -> o.subject("Person:2"))
                .id();
        try (Worker worker = work()) {
            rowlock.awaitState(done, JobState.COMPLETED);
            rowlock.awaitState(other, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(1, 1, 0, 0, 0));

        assertThat(rowlock.content(done).payload()).isEqualTo("{}");
        assertThat(rowlock.content(waiting).payload()).contains("later");
        assertThat(rowlock.content(other).payload()).contains("other");
    }

    @Test
    void many_are_done_in_batches_and_what_is_locked_is_left_and_counted() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, subject, state, finished_at)"
                + " SELECT 'letter', json_build_object('text', '" + MARK
                + "'), 'Person:1', 'completed', clock_timestamp()"
                + " FROM generate_series(1, 250)");
        try (Connection other = schema.begin()) {
            other.createStatement().execute("SELECT 1 FROM rowlock_job ORDER BY id LIMIT 2 FOR UPDATE");
            assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(248, 0, 0, 2, 0));
        }
        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(2, 0, 0, 0, 0));
        assertThat(traces()).isEmpty();
    }

    @Test
    void what_cannot_be_is_refused() throws Exception {
        assertThatThrownBy(() -> jobs.redact(" ", ADA)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> jobs.redact("a", null)).isInstanceOf(InvalidUseException.class);
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> jobs.in(connection).redact("a", ADA)).isInstanceOf(InvalidUseException.class);
        }
    }

    private long letter(String text, boolean fails) throws Exception {
        return letter(text, fails, Duration.ZERO);
    }

    private long letter(String text, boolean fails, Duration after) throws Exception {
        return rowlock.enqueue(
                        new Letter(text, fails),
                        o -> o.subject("Person:1").header("name", text).after(after))
                .id();
    }

    private Worker work() {
        return rowlock.work(w -> w.handle(
                Letter.class,
                (letter, job) -> {
                    if (letter.fails()) {
                        throw new IllegalStateException("no such person: " + letter.text());
                    }
                },
                h -> h.retry(RetryPolicy.fixed(Duration.ofMillis(1)).maxAttempts(2))));
    }

    /** Each column of each table, of whatever type, in which the mark stands. */
    private List<String> traces() throws Exception {
        List<String> found = new ArrayList<>();
        for (String column : schema.list(
                String.class,
                "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = ? ORDER BY 1",
                schema.name())) {
            int dot = column.indexOf('.');
            String table = column.substring(0, dot);
            String name = column.substring(dot + 1);
            if (schema.count("SELECT count(*) FROM " + table + " WHERE " + name + "::text LIKE '%" + MARK + "%'") > 0) {
                found.add(column);
            }
        }
        return found;
    }
}
