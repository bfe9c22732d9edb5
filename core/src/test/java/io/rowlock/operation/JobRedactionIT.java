package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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

        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(4, 0, 0, 0));

        assertThat(traces()).isEmpty();
        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(0, 0, 0, 0));
        assertThat(jobs.revive(dead, ADA)).as("there is nothing to run it with").isFalse();
        assertThat(rowlock.state(dead)).isEqualTo(JobState.DEAD);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation WHERE what = 'redact' AND who = 'ada'"))
                .isEqualTo(4);
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

        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(1, 1, 0, 0));

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
            assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(248, 0, 0, 2));
        }
        assertThat(jobs.redact("Person:1", ADA)).isEqualTo(new JobRedaction(2, 0, 0, 0));
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
