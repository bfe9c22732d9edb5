package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.PruneSql.Cursor;
import io.rowlock.internal.sql.PruneSql.Ended;
import io.rowlock.internal.sql.PruneSql.Pruned;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@PostgresTest
@Tag("B17")
final class PruneSqlIT {
    private static final Ended DAY = Ended.completed(Duration.ofDays(1));

    private TestSchema schema;
    private PruneSql sql;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        TestRowlock.fresh(schema);
        sql = new PruneSql(new Names(schema.name(), "rowlock_"));
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at, attempts, token)"
                        + " SELECT 'mail', '{}', 'completed', clock_timestamp() - interval '2 days', 2, 3 FROM generate_series(1, 3)");
        schema.execute("INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                + " SELECT id, 1, 'w', 'c', 'm', 's' FROM rowlock_job");
    }

    @Test
    void a_row_revived_after_the_statement_has_seen_it_completed_is_not_deleted() throws Exception {
        long revived = schema.count("SELECT min(id) FROM rowlock_job");
        schema.execute("CREATE OR REPLACE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;"
                + "CREATE TRIGGER hold BEFORE DELETE ON rowlock_job FOR EACH STATEMENT EXECUTE FUNCTION hold()");
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection holder = schema.begin()) {
            holder.createStatement().execute("SELECT pg_advisory_xact_lock(4711)");
            Future<Optional<Pruned>> pruning = thread.submit(this::prune);
            TestRowlock.soon()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
                                            + " AND wait_event = 'advisory' AND query LIKE '%rowlock:prune%'",
                                    schema.name())
                            == 1);
            schema.execute("UPDATE rowlock_job SET state = 'ready', finished_at = NULL WHERE id = " + revived);
            holder.commit();

            assertThat(pruning.get()).hasValueSatisfying(pruned -> {
                assertThat(pruned.seen()).isEqualTo(3);
                assertThat(pruned.rows()).isEqualTo(2);
            });
        } finally {
            thread.shutdownNow();
            schema.execute("DROP TRIGGER hold ON rowlock_job");
        }

        assertThat(schema.list(Long.class, "SELECT id FROM rowlock_job")).containsExactly(revived);
        assertThat(schema.list(Long.class, "SELECT job_id FROM rowlock_job_failure"))
                .containsExactly(revived);
    }

    @Test
    void one_process_prunes_at_a_time() throws Exception {
        try (Connection other = schema.begin()) {
            assertThat(sql.jobs(other, Set.of("nothing of ours"), Ended.completed(Duration.ZERO), null, 10))
                    .isPresent();

            assertThat(prune()).as("the other's transaction is open").isEmpty();
            other.commit();
        }
        assertThat(prune())
                .hasValueSatisfying(pruned -> assertThat(pruned.rows()).isEqualTo(3));
        assertThat(schema.count("SELECT count(*) FROM rowlock_job_failure")).isZero();
    }

    @Test
    void steps_go_on_behind_what_the_last_one_saw() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, state, finished_at)"
                        + " SELECT 'foreign', '{}', 'completed', clock_timestamp() - interval '3 days' FROM generate_series(1, 5)");
        Cursor cursor = null;
        long rows = 0;
        int steps = 0;
        try (Connection connection = schema.connect()) {
            for (Optional<Pruned> step = sql.jobs(connection, Set.of("mail"), DAY, cursor, 2);
                    step.isPresent();
                    step = sql.jobs(connection, Set.of("mail"), DAY, cursor, 2)) {
                cursor = step.get().next();
                rows += step.get().rows();
                steps++;
            }
        }

        assertThat(rows).isEqualTo(3);
        assertThat(steps).isEqualTo(4);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE kind = 'foreign'"))
                .isEqualTo(5);
    }

    private Optional<Pruned> prune() throws Exception {
        try (Connection connection = schema.connect()) {
            return sql.jobs(connection, Set.of("mail"), DAY, null, 1_000);
        }
    }
}
