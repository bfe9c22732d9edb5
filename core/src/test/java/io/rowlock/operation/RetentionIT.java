package io.rowlock.operation;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Retention;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each class of rows is kept for a time of its own; what is not finished, blocks or was just revived is never deleted. */
@PostgresTest
@Tag("B17")
final class RetentionIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "mended");
    private static final Duration DAY = Duration.ofDays(1);
    private static final Retention ALL = Retention.standard()
            .completed(DAY)
            .cancelled(DAY.multipliedBy(2))
            .dead(DAY.multipliedBy(3))
            .alerts(DAY.multipliedBy(4))
            .failures(DAY.multipliedBy(5))
            .operations(DAY.multipliedBy(6));

    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    void each_class_is_deleted_after_its_own_time_and_nothing_else_is() throws Exception {
        finished("step");
        finished("foreign");
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, run_at)"
                        + " SELECT 'step', '{}', s, clock_timestamp() + interval '1 day' FROM unnest(ARRAY['ready', 'parked']) s");
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, reason, acknowledged_at, acknowledged_by)"
                + " SELECT 'job dead', 'n' || n, clock_timestamp(), '', clock_timestamp() - n * interval '1 day', 'ada'"
                + " FROM generate_series(0, 9) n");
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, first_at, last_at, reason)"
                + " VALUES ('job dead', 'open', '2020-01-01', '2020-01-01', '2020-01-01', '')");
        schema.execute("INSERT INTO rowlock_job_failure (job_id, attempt, at, worker, error_class, message, stack)"
                + " SELECT (SELECT id FROM rowlock_job WHERE state = 'ready'), n + 1, clock_timestamp() - n * interval '1 day',"
                + " 'w', 'c', 'm', 's' FROM generate_series(0, 9) n");
        schema.execute(
                "INSERT INTO rowlock_operation (at, who, why, what)"
                        + " SELECT clock_timestamp() - n * interval '1 day', 'ada', 'x', 'read' FROM generate_series(9, 0, -1) n");

        try (Worker worker = work(ALL)) {
            rowlock.awaitZero(
                    "SELECT count(*) FROM rowlock_operation WHERE at < clock_timestamp() - interval '6 days'");
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(states("step")).containsExactly("cancelled 2", "completed 1", "dead 3", "parked 1", "ready 1");
        assertThat(states("foreign")).containsExactly("cancelled 10", "completed 10", "dead 10");
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE acknowledged_at IS NOT NULL"))
                .isEqualTo(4);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE acknowledged_at IS NULL"))
                .isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isEqualTo(5);
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(6);
    }

    @Test
    void by_default_nothing_dead_no_open_alert_and_no_operation_is_deleted() throws Exception {
        finished("step");
        schema.execute("UPDATE rowlock_job SET finished_at = finished_at - interval '10 years'");
        schema.execute("INSERT INTO rowlock_operation (at, who, why, what) VALUES ('2020-01-01', 'ada', 'x', 'skip')");
        schema.execute(
                "INSERT INTO rowlock_alert (cause, kind, bucket, reason) VALUES ('job dead', 'step', '2020-01-01', '')");
        schema.execute("INSERT INTO rowlock_alert (cause, kind, bucket, reason, acknowledged_at, acknowledged_by)"
                + " VALUES ('job dead', 'old', '2020-01-01', '', '2020-01-01', 'ada')");

        try (Worker worker = rowlock.work(w -> w.handle(Step.class, (step, job) -> {}))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_alert WHERE kind = 'old'"); // the last class of a pass
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(states("step")).containsExactly("dead 10");
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert")).isEqualTo(1);
    }

    @Test
    @Tag("P11")
    void a_dead_head_that_blocks_its_key_is_kept_until_it_is_skipped() throws Exception {
        long head = rowlock.enqueue(new Step(-1), o -> o.orderingKey("a")).id();
        long free = rowlock.enqueue(new Step(-2)).id();
        try (Worker worker = dying(Retention.standard())) {
            rowlock.awaitState(head, JobState.DEAD);
            rowlock.awaitState(free, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        schema.execute("UPDATE rowlock_job SET finished_at = clock_timestamp() - interval '1 year'");

        try (Worker worker = dying(ALL)) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id = " + free);
            assertThat(rowlock.state(head)).isEqualTo(JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }

        assertThat(rowlock.rowlock().jobs().skip(head, ADA)).isTrue();
        try (Worker worker = dying(ALL)) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id = " + head);
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job_failure");
            assertThat(worker.health().up()).isTrue();
        }
    }

    @Test
    void a_dead_job_that_somebody_is_reviving_is_left_alone_and_runs() throws Exception {
        finished("step");
        schema.execute(
                "UPDATE rowlock_job SET finished_at = clock_timestamp() - interval '1 year', payload = '{\"no\":1}'");
        long revived = schema.count("SELECT max(id) FROM rowlock_job WHERE state = 'dead'");
        try (Connection person = schema.begin()) {
            assertThat(rowlock.rowlock().jobs().in(person).revive(revived, ADA)).isEqualTo(JobAnswer.DONE);

            try (Worker worker = work(ALL)) {
                rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE id <> " + revived);
                person.commit();
                soon().until(() -> rowlock.state(revived) == JobState.COMPLETED);
                assertThat(worker.health().up()).isTrue();
            }
        }
        assertThat(states("step")).containsExactly("completed 1");
    }

    @Test
    @Tag("P10")
    void a_class_that_cannot_be_deleted_keeps_nothing_from_the_others() throws Exception {
        finished("step");
        schema.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE 'not this'; END $$;"
                + "CREATE TRIGGER refuse BEFORE DELETE ON rowlock_job FOR EACH ROW WHEN (old.state = 'completed')"
                + " EXECUTE FUNCTION refuse()");
        try (Worker worker = work(ALL)) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job WHERE state = 'dead'"
                    + " AND finished_at < clock_timestamp() - interval '3 days'");
            assertThat(worker.health().running()).isZero();
        } finally {
            schema.execute("DROP TRIGGER refuse ON rowlock_job; DROP FUNCTION refuse()");
        }
        assertThat(states("step")).containsExactly("cancelled 2", "completed 10", "dead 3");
    }

    @Test
    void the_failures_of_a_job_that_was_revived_and_completed_at_once_go_with_it() throws Exception {
        long kept = rowlock.enqueue(new Step(-1)).id();
        try (Worker worker = dying(ALL)) {
            rowlock.awaitState(kept, JobState.DEAD);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.rowlock().jobs().revive(kept, ADA)).isEqualTo(JobAnswer.DONE);
        try (Worker worker = work(Retention.standard().completed(Duration.ZERO))) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_job");
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
    }

    @Test
    void what_was_done_to_a_saga_is_kept_as_long_as_the_saga() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_saga (id, name, version, status, state, step) VALUES ('s-1', 'trip', 1, 'running', '{}', 'a')");
        schema.execute("INSERT INTO rowlock_operation (at, who, why, what, saga)"
                + " SELECT '2020-01-01', 'ada', 'x', 'redact', s FROM unnest(ARRAY['s-1', 's-2', NULL]) s");

        try (Worker worker = work(ALL)) {
            rowlock.awaitZero("SELECT count(*) FROM rowlock_operation WHERE saga IS DISTINCT FROM 's-1'");
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isEqualTo(1);
    }

    /** Ten of each, ended today and on the nine days before. */
    private void finished(String kind) throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at)"
                        + " SELECT ?, '{}', s, clock_timestamp() - n * interval '1 day'"
                        + " FROM unnest(ARRAY['completed', 'dead', 'cancelled']) s, generate_series(0, 9) n",
                kind);
    }

    private List<String> states(String kind) throws Exception {
        return schema.list(
                String.class,
                "SELECT state || ' ' || count(*) FROM rowlock_job WHERE kind = ? GROUP BY state ORDER BY state",
                kind);
    }

    private Worker work(Retention retention) {
        return rowlock.work(w -> w.retention(retention).handle(Step.class, (step, job) -> {}));
    }

    private Worker dying(Retention retention) {
        return rowlock.work(w -> w.retention(retention)
                .handle(
                        Step.class,
                        (step, job) -> {
                            throw new IllegalStateException("as told");
                        },
                        h -> h.retry(RetryPolicy.standard().maxAttempts(1))));
    }
}
