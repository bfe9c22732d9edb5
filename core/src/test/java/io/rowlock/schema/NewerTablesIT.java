package io.rowlock.schema;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertFilter;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.job.By;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A rollout: tables are brought up while the version before works on them, and large ones are not in anybody's way. */
@PostgresTest
@Tag("B54")
final class NewerTablesIT {
    private static final By ADA = new By("ada", "rollout");

    /** The last version of the tables that is released, and does not change any more. */
    private static final int FROZEN = 10;

    @Kind("mail")
    private record Mail(int no) {}

    /* As version 12 had it. */
    private static final String RAISE_OF_12 = """
            INSERT INTO rowlock_alert (cause, kind, bucket, n, job_id, reason)
            VALUES ('job dead', 'mail', date_trunc('hour', statement_timestamp()), 1, $1, $2)
            ON CONFLICT (cause, kind, bucket) DO UPDATE
            SET n = rowlock_alert.n + excluded.n, last_at = clock_timestamp(), job_id = excluded.job_id, reason = excluded.reason
            """;

    private TestSchema schema;

    @BeforeEach
    void create(TestPostgres server) throws Exception {
        schema = TestSchema.create(server, "newer");
    }

    @AfterEach
    void drop() throws Exception {
        schema.drop();
    }

    private Rowlock rowlock() {
        return Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
    }

    @Test
    void large_tables_are_neither_written_anew_nor_read_nor_locked_by_the_scripts_since_the_last_release()
            throws Exception {
        Schema tables = rowlock().schema();
        String script = tables.script(0);
        schema.execute(script.substring(0, script.indexOf("-- Rowlock " + (FROZEN + 1))));
        schema.execute("INSERT INTO rowlock_job (kind, payload, subject, state, finished_at)"
                + " SELECT 'mail', '{}', 'Order:' || n, 'completed', clock_timestamp() FROM generate_series(1, 200000) n;"
                + "INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                + " SELECT n, 1, 'w', 'c', 'm', 's' FROM generate_series(1, 20000) n;"
                + "INSERT INTO rowlock_operation (who, why, what, job_id)"
                + " SELECT 'ada', 'w', 'revive', n FROM generate_series(1, 20000) n;"
                + "INSERT INTO rowlock_alert (bucket, job_id, cause, kind, reason)"
                + " SELECT clock_timestamp(), n, 'job dead', 'mail-' || n, 'r' FROM generate_series(1, 100) n");
        Map<String, Object> files = files();
        try (Connection connection = schema.begin();
                var statement = connection.createStatement()) {
            statement.execute(tables.script(FROZEN));

            // rowlock_key has a row for each key with work, and is read once for its index of those that are blocked
            assertThat(strings(
                            statement,
                            "SELECT DISTINCT relation::regclass::text FROM pg_locks"
                                    + " WHERE pid = pg_backend_pid() AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareLock')"
                                    + " AND relation IN (SELECT oid FROM pg_class WHERE relkind = 'r' AND relname IN"
                                    + " ('rowlock_job', 'rowlock_job_failure', 'rowlock_saga', 'rowlock_saga_step',"
                                    + " 'rowlock_saga_signal', 'rowlock_schedule') AND relnamespace = '" + schema.name()
                                    + "'::regnamespace)"))
                    .as("workers and enqueues go on")
                    .isEmpty();
            assertThat(strings(
                            statement,
                            "SELECT relname FROM pg_stat_xact_user_tables WHERE schemaname = '" + schema.name()
                                    + "' AND seq_tup_read > 0 AND relname IN ('rowlock_job', 'rowlock_job_failure')"))
                    .as("not a row of them is looked at but by its key")
                    .isEmpty();
            connection.commit();
        }
        assertThat(files()).as("no table was written anew").containsAllEntriesOf(files);
        tables.validate();
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE subject = 'Order:' || job_id"))
                .isEqualTo(100);
    }

    private static List<String> strings(Statement statement, String query) throws Exception {
        List<String> all = new ArrayList<>();
        try (var rows = statement.executeQuery(query)) {
            while (rows.next()) {
                all.add(rows.getString(1));
            }
        }
        return all;
    }

    private Map<String, Object> files() throws Exception {
        Map<String, Object> files = new java.util.TreeMap<>();
        for (Map<String, Object> row : schema.rows(
                "SELECT relname, relfilenode::text AS file FROM pg_class WHERE relkind = 'r' AND relnamespace = '"
                        + schema.name() + "'::regnamespace")) {
            files.put(String.valueOf(row.get("relname")), row.get("file"));
        }
        return files;
    }

    /** As it is for a process that is not replaced yet: columns that it does not know of, which have a default or may be null. */
    @Test
    void a_worker_does_all_its_work_on_tables_that_are_one_version_newer() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        for (String table : List.of("job", "job_failure", "alert", "operation", "key", "queue", "schedule")) {
            schema.execute("ALTER TABLE rowlock_" + table + " ADD COLUMN later text;" + "ALTER TABLE rowlock_" + table
                    + " ADD COLUMN counted bigint NOT NULL DEFAULT 0");
        }
        schema.execute("CREATE TABLE rowlock_later (id bigint);"
                + "CREATE INDEX rowlock_job_later ON rowlock_job (later) WHERE later IS NOT NULL;"
                + "INSERT INTO rowlock_schema (version) SELECT max(version) + 1 FROM rowlock_schema");
        rowlock.rowlock().schema().validate();
        long bad = rowlock.enqueue(new Mail(0), o -> o.subject("Person:1")).id();
        for (int i = 1; i < 20; i++) {
            String key = "k" + i % 3;
            rowlock.enqueue(new Mail(i), o -> o.orderingKey(key));
        }
        try (Worker worker = rowlock.work(w -> w.handle(Mail.class, (mail, job) -> {
            if (mail.no() == 0) {
                throw new PermanentFailure("no such address");
            }
        }))) {
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 19 && rowlock.count(JobState.DEAD) == 1);
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(rowlock.rowlock().alerts().open(AlertFilter.all(), null, 10))
                .extracting(Alert::job)
                .containsExactly(bad);
        assertThat(rowlock.rowlock().jobs().redact("Person:1", ADA)).isEqualTo(new JobRedaction(1, 0, 0, 0, 1));
    }

    @Test
    void what_the_version_before_writes_these_tables_take_and_this_version_finds() throws Exception {
        TestRowlock rowlock = TestRowlock.fresh(schema);
        schema.execute("INSERT INTO rowlock_job (kind, payload, subject, state, finished_at) SELECT 'mail', '{}',"
                + " 'Person:' || n, 'dead', clock_timestamp() FROM generate_series(1, 2) n");
        Sql old = new Sql(new Names(schema.name(), "rowlock_"), RAISE_OF_12);
        for (long job : schema.list(Long.class, "SELECT id FROM rowlock_job ORDER BY id")) {
            rowlock.commit(connection -> old.update(connection, job, "words of " + job));
        }

        assertThat(rowlock.rowlock().jobs().redact("Person:1", ADA)).isEqualTo(new JobRedaction(1, 0, 0, 0, 0));
        assertThat(rowlock.rowlock().jobs().redact("Person:2", ADA)).isEqualTo(new JobRedaction(1, 0, 0, 0, 1));
        assertThat(schema.count("SELECT count(*) FROM rowlock_alert WHERE reason = 'redacted' AND n = 2"))
                .isEqualTo(1);
    }
}
