package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Somebody's snapshot keeps every row that died since, and its entries at the front of the due index: a claim begins behind them,
 * and costs what it costs without. Running jobs are beaten for meanwhile, and each beat leaves a dead version.
 */
@Tag("B58")
@Tag("P14")
final class PinnedHorizonIT {
    private static final int DEAD = 20_000;
    private static final int RUNNING = 200;
    private static final int BEATS = 20;
    private static final int FEW = 10;

    @Test
    void a_claim_behind_the_watermark_reads_no_more_pages_than_without_a_pinned_snapshot() throws Exception {
        long alone;
        try (TestSchema schema = TestSchema.create(TestPostgres.shared(), "unpinned")) {
            installed(schema);
            Instant watermark = due(schema);
            alone = buffers(schema, watermark);
        }
        try (TestSchema schema = TestSchema.create(TestPostgres.shared(), "pinned")) {
            installed(schema);
            schema.execute("INSERT INTO rowlock_job (kind, payload, run_at)"
                    + " SELECT 'mine', '{}', clock_timestamp() - interval '1 hour' FROM generate_series(1, " + DEAD
                    + ")");
            schema.execute("INSERT INTO rowlock_job (kind, payload, run_at, locked_by, locked_until, token, attempts)"
                    + " SELECT 'mine', '{}', clock_timestamp() - interval '1 hour', 'me',"
                    + " clock_timestamp() + interval '1 hour', 1, 1 FROM generate_series(1, " + RUNNING + ")");
            try (Connection pinning = pinned(schema)) {
                schema.execute("DELETE FROM rowlock_job WHERE locked_by IS NULL");
                beat(schema);
                Instant watermark = due(schema);

                assertThat(buffers(schema, watermark)).as("alone %s", alone).isLessThanOrEqualTo(alone * 3 / 2);
                assertThat(buffers(schema, null))
                        .as("from the front of the lane it walks the dead")
                        .isGreaterThan(alone * 2);
                assertThat(schema.count(
                                "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
                                        + " AND backend_xmin IS NOT NULL AND state = 'idle in transaction'",
                                schema.name()))
                        .as("it was pinned all the time")
                        .isEqualTo(1);
                pinning.rollback();
            }
        }
    }

    private static void installed(TestSchema schema) throws SQLException {
        TestRowlock.fresh(schema);
        schema.execute("ALTER TABLE rowlock_job SET (autovacuum_enabled = false)");
    }

    private static Connection pinned(TestSchema schema) throws SQLException {
        Connection connection = schema.connect();
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setAutoCommit(false);
        try (var statement = connection.createStatement()) {
            statement.execute("SELECT count(*) FROM rowlock_job");
        }
        return connection;
    }

    /** As often as a worker does within some minutes. */
    private static void beat(TestSchema schema) throws SQLException {
        long first = schema.count("SELECT min(id) FROM rowlock_job WHERE locked_by = 'me'");
        Pinned heartbeat = PlannedStatements.unkeyed(first).stream()
                .filter(pin -> pin.name().equals("heartbeat"))
                .findFirst()
                .orElseThrow();
        Sql sql = new Sql(new Names(schema.name(), "rowlock_"), heartbeat.template());
        try (Connection connection = schema.connect()) {
            for (int i = 0; i < BEATS; i++) {
                assertThat(sql.query(
                                connection,
                                row -> row.getLong(1),
                                heartbeat.params().toArray()))
                        .hasSize(RUNNING);
            }
        }
    }

    /** Jobs that are due now; gives the time at which a lane that was empty before was looked at. */
    private static Instant due(TestSchema schema) throws SQLException {
        Instant watermark = Instant.parse(
                schema.list(String.class, "SELECT to_json(clock_timestamp() AT TIME ZONE 'UTC')#>>'{}' || 'Z'")
                        .get(0));
        schema.execute("INSERT INTO rowlock_job (kind, payload) SELECT 'mine', '{}' FROM generate_series(1, 500);"
                + "ANALYZE rowlock_job");
        return watermark;
    }

    private static long buffers(TestSchema schema, @Nullable Instant since) throws Exception {
        try (Connection connection = schema.begin()) {
            long buffers = PlansIT.buffers(PlansIT.explain(schema, connection, claim(since)));
            connection.rollback();
            return buffers;
        }
    }

    private static Pinned claim(@Nullable Instant since) {
        Object one = Sql.texts(List.of("default"));
        return PlannedStatements.pin(
                "claim",
                ClaimSql.CLAIM_DUE,
                List.of(),
                "me",
                60_000_000L,
                one,
                Sql.integers(List.of(FEW)),
                one,
                Sql.integers(List.of(FEW)),
                Sql.integers(List.of(1, 1, 1)),
                Sql.texts(List.of("mine", "mine", "mine")),
                Sql.integers(List.of(0, 1, 2)),
                Sql.instants(Arrays.asList(since, since, since)),
                Sql.integers(List.of(200, 200, 200)));
    }
}
