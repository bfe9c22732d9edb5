package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rowlock.Rowlock;
import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What each hot statement reads and writes is bounded by its own batch, however many rows of the worker's own kinds are
 * due, suspect or finished, and whatever the planner knows of the table. {@code -Drowlock.plans.foreign=800000} loads more
 * than the default of 200,000 rows of each sort.
 */
@Tag("P14")
@Tag("B59")
class BoundedStatementsIT {
    private static final int ROWS = Integer.getInteger("rowlock.plans.foreign", 200_000);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Buffers for a batch of 200 rows, of 300 for walks and prune: twice what was measured with 800,000 rows. */
    private static final Map<String, Long> MOST = Map.ofEntries(
            Map.entry("claim", 2_600L),
            Map.entry("claim-found", 2_500L),
            Map.entry("walk", 150L),
            Map.entry("walk-suspects", 150L),
            Map.entry("rescue", 6_000L),
            Map.entry("prune", 4_000L),
            Map.entry("prune-dead", 100L),
            Map.entry("prune-alerts", 100L),
            Map.entry("prune-failures", 100L),
            Map.entry("prune-operations", 100L),
            Map.entry("prune-idempotency-keys", 100L),
            Map.entry("jobs-by-subject", 50L),
            Map.entry("complete", 5_000L),
            Map.entry("complete-and-delete", 2_500L),
            Map.entry("heartbeat", 1_400L),
            Map.entry("retry", 6_000L),
            Map.entry("bury", 6_500L),
            Map.entry("put-back", 6_000L),
            Map.entry("still-held", 100L),
            Map.entry("enqueue-dedup", 9_000L),
            Map.entry("keep-waiting", 2_000L),
            Map.entry("change-waiting", 6_000L),
            Map.entry("find-once", 1_500L),
            Map.entry("keyless", 2_000L),
            Map.entry("retake-key", 6_000L),
            Map.entry("merge", 3_000L),
            Map.entry("take-over", 200L));

    @ParameterizedTest
    @ValueSource(strings = {"none", "stale", "fresh"})
    void every_hot_statement_costs_its_own_batch_and_no_more(String statistics) throws Exception {
        try (TestSchema schema = backlog(statistics);
                Connection connection = schema.begin()) {
            long first = schema.count("SELECT min(id) FROM rowlock_job WHERE kind = 'mine'");
            List<String> wrong = new ArrayList<>();
            for (Pinned pinned : PlannedStatements.unkeyed(first)) {
                JsonNode plan = explain(schema, connection, pinned);
                connection.rollback();
                long buffers = buffers(plan);
                System.out.printf(
                        "%s, own backlog of %d: %-20s %8.2f ms %6d buffers%n",
                        statistics,
                        ROWS,
                        pinned.name(),
                        plan.get("Execution Time").asDouble(),
                        buffers);
                if (buffers > MOST.get(pinned.name())) {
                    wrong.add(pinned.name() + " touched " + buffers + " buffers, at most " + MOST.get(pinned.name())
                            + " are expected");
                }
            }
            assertThat(wrong).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "stale", "fresh"})
    @Tag("P6")
    void a_thousand_lost_leases_are_taken_away_in_one_linear_statement(String statistics) throws Exception {
        try (TestSchema schema = backlog(statistics);
                Connection connection = schema.begin()) {
            long first = schema.count("SELECT min(id) FROM rowlock_job WHERE kind = 'mine'");
            Object ids = Sql.bigints(
                    LongStream.range(first + 400, first + 1_400).boxed().toList());
            JsonNode plan = explain(
                    schema,
                    connection,
                    new Pinned(
                            "rescue",
                            SweepSql.RESCUE,
                            List.of(),
                            List.of(ids, Sql.texts(List.of("mine")), Sql.integers(List.of(50)))));
            connection.rollback();

            assertThat(buffers(plan)).isBetween(1_000L, 30_000L);
            assertThat(plan.findValues("Rows Removed by Join Filter")).isEmpty();
        }
    }

    private static TestSchema backlog(String statistics) throws SQLException {
        TestSchema schema = TestSchema.create(TestPostgres.shared(), "bounded");
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
        schema.execute("ALTER TABLE rowlock_job SET (autovacuum_enabled = false)");
        if (statistics.equals("stale")) {
            schema.execute("INSERT INTO rowlock_job (kind, payload) SELECT 'small', '{}' FROM generate_series(1, 300);"
                    + "ANALYZE rowlock_job");
        }
        long first = 1 + schema.count("SELECT count(*) FROM rowlock_job");
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, subject, run_at, losses, locked_by, locked_until, token,"
                        + " attempts, dedup_key, dedup_mode, waiting_key)"
                        + " SELECT 'mine', '{}', 'Order:' || n, clock_timestamp() - interval '1 hour', n / " + ROWS
                        + ","
                        + " CASE WHEN leased THEN 'me' END,"
                        + " CASE WHEN leased THEN clock_timestamp() - interval '1 s' END,"
                        + " CASE WHEN leased THEN 1 ELSE 0 END, CASE WHEN leased THEN 1 ELSE 0 END,"
                        + " 'key-' || n, 'keep', CASE WHEN n > 1399 AND n % 2 = 1 THEN 'key-' || n END"
                        + " FROM generate_series(0, " + (ROWS + ROWS / 4) + ") n,"
                        + " LATERAL (SELECT n < 200 OR n BETWEEN 400 AND 1399) l(leased)");
        schema.execute("INSERT INTO rowlock_job (kind, state, payload, finished_at)"
                + " SELECT CASE WHEN n % 3 = 0 THEN 'foreign' ELSE 'mine' END, 'completed', '{}', clock_timestamp()"
                + " FROM generate_series(1, " + ROWS + ") n");
        if (statistics.equals("fresh")) {
            schema.execute("ANALYZE rowlock_job");
        }
        assertThat(schema.count("SELECT min(id) FROM rowlock_job WHERE kind = 'mine'"))
                .isEqualTo(first);
        return schema;
    }

    private static JsonNode explain(TestSchema schema, Connection connection, Pinned pinned) throws Exception {
        Sql explain = new Sql(
                new Names(schema.name(), "rowlock_"), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + pinned.template());
        List<String> plan = explain.query(
                connection, row -> row.getString(1), pinned.params().toArray());
        return JSON.readTree(plan.get(0)).get(0);
    }

    /** The statement's own, and those of its writes, which the top does not always count. */
    private static long buffers(JsonNode plan) {
        long buffers = own(plan.get("Plan"));
        for (JsonNode node : plan.findParents("Node Type")) {
            if (node.get("Node Type").asText().equals("ModifyTable") && !node.equals(plan.get("Plan"))) {
                buffers += own(node);
            }
        }
        return buffers;
    }

    private static long own(JsonNode node) {
        return node.get("Shared Hit Blocks").asLong()
                + node.get("Shared Read Blocks").asLong();
    }
}
