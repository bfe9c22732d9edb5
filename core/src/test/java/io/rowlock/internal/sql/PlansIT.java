package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rowlock.Rowlock;
import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.internal.sql.SingleStatements.Named;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The plans of the hot statements, with no statistics, with those of a table that was small, and with fresh ones, each
 * planned for its parameters and without knowing them. {@code -Drowlock.plans.foreign=800000} loads more than the
 * default of 200,000 foreign rows; what a claim pays for them is always asked with 800,000, the figure of the promise.
 */
class PlansIT {
    private static final int FOREIGN = Integer.getInteger("rowlock.plans.foreign", 200_000);
    private static final int PROMISED = 800_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    enum Statistics {
        NONE,
        STALE,
        FRESH
    }

    @ParameterizedTest
    @EnumSource(Statistics.class)
    @Tag("P12")
    void every_hot_statement_goes_over_its_index(Statistics statistics) throws Exception {
        try (TestSchema schema = loaded(statistics, FOREIGN);
                Connection connection = schema.begin()) {
            List<String> wrong = new ArrayList<>();
            for (Pinned pinned : PlannedStatements.all(firstId(schema))) {
                JsonNode plan = explain(schema, connection, pinned);
                connection.rollback();
                wrong.addAll(problems(pinned, plan, "planned for its parameters"));
                System.out.printf(
                        "%s %-20s %8.2f ms %6d buffers%n",
                        statistics, pinned.name(), plan.get("Execution Time").asDouble(), buffers(plan));
            }
            assertThat(wrong).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Statistics.class)
    void so_it_does_when_the_plan_is_generic(Statistics statistics) throws Exception {
        try (TestSchema schema = loaded(statistics, FOREIGN)) {
            List<String> wrong = new ArrayList<>();
            for (Pinned pinned : PlannedStatements.all(firstId(schema))) {
                JsonNode plan = genericPlan(schema, pinned);
                wrong.addAll(problems(pinned, plan, "generic"));
            }
            assertThat(wrong).isEmpty();
        }
    }

    @Test
    @Tag("P12")
    void foreign_rows_cost_a_claim_nothing() throws Exception {
        try (TestSchema alone = loaded(Statistics.FRESH, 0);
                TestSchema crowded = loaded(Statistics.FRESH, PROMISED)) {
            long without = claimBuffers(alone);
            long with = claimBuffers(crowded);
            System.out.printf("claim of 200: %d buffers alone, %d beside %d foreign rows%n", without, with, PROMISED);
            assertThat(with).isLessThanOrEqualTo(without * 3 / 2);
        }
    }

    @Test
    void every_statement_is_accepted_by_the_server() throws Exception {
        List<String> refused = new ArrayList<>();
        try (TestSchema schema = TestSchema.create(TestPostgres.shared(), "prepare");
                Connection connection = schema.connect()) {
            install(schema);
            for (Named named : SingleStatements.ofPackage()) {
                Sql sql = new Sql(names(schema), named.template());
                try (var statement = connection.prepareStatement(sql.text())) {
                    statement.getParameterMetaData(); // asks the server
                } catch (SQLException e) {
                    refused.add(named.name() + ": " + e.getMessage());
                }
            }
        }
        assertThat(refused).isEmpty();
    }

    @Test
    void every_statement_has_its_plan_pinned_or_a_reason_why_not() throws Exception {
        Set<String> pinned =
                PlannedStatements.all(0).stream().map(Pinned::template).collect(Collectors.toSet());
        List<Named> all = SingleStatements.ofPackage();

        assertThat(all)
                .filteredOn(statement -> !pinned.contains(statement.template()))
                .extracting(Named::name)
                .containsExactlyInAnyOrderElementsOf(SingleStatements.EXEMPT.keySet());
        assertThat(pinned).isSubsetOf(all.stream().map(Named::template).collect(Collectors.toSet()));
    }

    /** Claims beside a key whose head waits for tomorrow, with 50,000 due followers at the front of the lane. */
    @Test
    @Tag("B59")
    void followers_of_a_waiting_head_cost_the_candidates_of_others_no_more_than_their_limit() throws Exception {
        long alone;
        try (TestSchema schema = loaded(Statistics.FRESH, 8)) {
            alone = candidateBuffers(schema, null);
        }
        try (TestSchema schema = loaded(Statistics.FRESH, 8)) {
            schema.execute("INSERT INTO rowlock_job (kind, payload, ordering_key, run_at)"
                    + " VALUES ('keyed', '{}', 'waiting', clock_timestamp() + interval '1 day')");
            schema.execute(
                    "INSERT INTO rowlock_job (kind, payload, ordering_key, run_at)"
                            + " SELECT 'keyed', '{}', 'waiting', clock_timestamp() - interval '1 hour' FROM generate_series(1, 50000)");
            assertThat(candidateBuffers(schema, null))
                    .as("before they are parked")
                    .isLessThanOrEqualTo(alone * 3 / 2);
            schema.execute(
                    "UPDATE rowlock_job SET state = 'parked' WHERE ordering_key = 'waiting' AND run_at < clock_timestamp()");
            assertThat(candidateBuffers(schema, Instant.now().minusSeconds(600)))
                    .as("after that, from the watermark, which steps over their dead entries")
                    .isLessThanOrEqualTo(alone * 3 / 2);
        }
    }

    /** Ten queues with one kind, as a worker asks once a poll while it has nothing to do. */
    @ParameterizedTest
    @EnumSource(Statistics.class)
    @Tag("P12")
    void look_of_an_idle_worker_is_a_page_or_two_of_each_index(Statistics statistics) throws Exception {
        List<String> queues = new ArrayList<>();
        List<Integer> priorities = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            queues.add("queue-" + i / 3);
            priorities.add(i % 3);
        }
        Pinned look = PlannedStatements.pin(
                "any-due",
                DueSql.ANY_DUE,
                List.of("rowlock_job_due", "rowlock_job_suspect", "rowlock_job_keyed"),
                Sql.texts(queues),
                Sql.texts(Collections.nCopies(30, "mine")),
                Sql.integers(priorities));
        try (TestSchema schema = TestSchema.create(TestPostgres.shared(), "plans")) {
            install(schema);
            if (statistics == Statistics.STALE) {
                load(schema, "small", "ready", 300, "clock_timestamp()");
                schema.execute("ANALYZE rowlock_job; TRUNCATE rowlock_job");
            }
            load(schema, "mine", "completed", 50_000, "clock_timestamp()");
            if (statistics == Statistics.FRESH) {
                schema.execute("ANALYZE rowlock_job");
            }
            try (Connection connection = schema.begin()) {
                explain(schema, connection, look);
                JsonNode plan = explain(schema, connection, look);
                System.out.printf("%s look of an idle worker: %d buffers%n", statistics, buffers(plan));
                assertThat(problems(look, plan, "idle")).isEmpty();
                assertThat(buffers(plan)).isLessThanOrEqualTo(6);
            }
        }
    }

    private static long candidateBuffers(TestSchema schema, @Nullable Instant since) throws Exception {
        try (Connection connection = schema.begin()) {
            Pinned candidates = KeyedStatements.all().get(0);
            assertThat(candidates.template()).isEqualTo(KeyedClaimSql.CANDIDATES);
            List<Object> params = new ArrayList<>(candidates.params());
            params.set(3, Sql.instants(Arrays.asList(since, since, since)));
            JsonNode plan = explain(
                    schema,
                    connection,
                    new Pinned(candidates.name(), candidates.template(), candidates.indexes(), params));
            connection.rollback();
            return buffers(plan);
        }
    }

    private static TestSchema loaded(Statistics statistics, int foreign) throws SQLException {
        TestSchema schema = TestSchema.create(TestPostgres.shared(), "plans");
        install(schema);
        schema.execute("ALTER TABLE rowlock_job SET (autovacuum_enabled = false)");
        if (statistics == Statistics.STALE) {
            load(schema, "small", "ready", 300, "clock_timestamp()");
            schema.execute("ANALYZE rowlock_job");
        }
        load(schema, "foreign", "ready", foreign, "clock_timestamp() - interval '1 hour'");
        load(schema, "mine", "ready", 500, "clock_timestamp()");
        load(schema, "mine", "ready", foreign / 4, "clock_timestamp() + interval '1 day'");
        load(schema, "foreign", "completed", foreign / 10, "clock_timestamp()");
        schema.execute(
                "INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                        + " SELECT n, 1, 'w', 'c', 'm', 's' FROM generate_series(1, ?) n",
                foreign / 4);
        KeyedStatements.load(schema, foreign / 8);
        LimitedStatements.load(schema, foreign / 8);
        ScheduleStatements.load(schema);
        AlertStatements.load(schema);
        OperationStatements.load(schema);
        IdempotencyStatements.load(schema);
        LeaseStatements.load(schema);
        schema.execute(
                "UPDATE rowlock_job SET locked_by = 'me', locked_until = clock_timestamp() - interval '1 s', token = 1,"
                        + " attempts = 1 WHERE id BETWEEN ? AND ?",
                firstId(schema),
                firstId(schema) + 199);
        schema.execute(
                "UPDATE rowlock_job SET dedup_key = 'key-' || id - ?, waiting_key = CASE WHEN id % 2 = ? % 2 THEN NULL"
                        + " ELSE 'key-' || id - ? END WHERE kind = 'mine' AND id BETWEEN ? + 1400 AND ? + 1599",
                firstId(schema), firstId(schema), firstId(schema), firstId(schema), firstId(schema));
        if (statistics == Statistics.FRESH) {
            schema.execute(
                    "ANALYZE rowlock_job; ANALYZE rowlock_key; ANALYZE rowlock_limit; ANALYZE rowlock_slot; ANALYZE rowlock_schedule;"
                            + " ANALYZE rowlock_alert; ANALYZE rowlock_operation; ANALYZE rowlock_job_failure;"
                            + " ANALYZE rowlock_idempotency_key; ANALYZE rowlock_lease; ANALYZE rowlock_lease_history;"
                            + " ANALYZE rowlock_partition_member");
        }
        return schema;
    }

    private static void load(TestSchema schema, String kind, String state, int rows, String runAt) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_job (queue, kind, state, payload, subject, run_at, finished_at, dedup_key,"
                        + " dedup_mode, waiting_key)"
                        + " SELECT 'default', ?, ?, '{}', 'Order:' || n, " + runAt + ", CASE WHEN ? = 'ready' THEN NULL"
                        + " ELSE clock_timestamp() END, 'key-' || n || '-' || ?, CASE WHEN ? = 'ready' THEN 'keep' ELSE 'once' END,"
                        + " CASE WHEN ? = 'ready' AND n % 2 = 1 THEN 'key-' || n || '-' || ? END FROM generate_series(1, ?) n",
                kind,
                state,
                state,
                rows,
                state,
                kind.equals("mine") ? "" : state,
                rows,
                rows);
    }

    private static long firstId(TestSchema schema) throws SQLException {
        return schema.count("SELECT min(id) FROM rowlock_job WHERE kind = 'mine'");
    }

    private static void install(TestSchema schema) {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
    }

    private static Names names(TestSchema schema) {
        return new Names(schema.name(), "rowlock_");
    }

    static JsonNode explain(TestSchema schema, Connection connection, Pinned pinned) throws Exception {
        Sql explain = new Sql(names(schema), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + pinned.template());
        return JSON.readTree(explain.query(
                                connection,
                                row -> row.getString(1),
                                pinned.params().toArray())
                        .get(0))
                .get(0);
    }

    private static JsonNode genericPlan(TestSchema schema, Pinned pinned) throws Exception {
        var simple = schema.dataSource();
        simple.setPreferQueryMode(org.postgresql.jdbc.PreferQueryMode.SIMPLE);
        try (Connection connection = simple.getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(
                        "EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + names(schema).apply(pinned.template()))) {
            assertThat(row.next()).isTrue();
            return JSON.readTree(row.getString(1)).get(0);
        }
    }

    private static long claimBuffers(TestSchema schema) throws Exception {
        try (Connection connection = schema.begin()) {
            Pinned claim = PlannedStatements.all(firstId(schema)).get(0);
            JsonNode plan = explain(schema, connection, claim);
            connection.rollback();
            return buffers(plan);
        }
    }

    static long buffers(JsonNode plan) {
        JsonNode top = plan.get("Plan");
        return top.get("Shared Hit Blocks").asLong()
                + top.get("Shared Read Blocks").asLong();
    }

    private static List<String> problems(Pinned pinned, JsonNode plan, String how) {
        List<String> wrong = new ArrayList<>();
        TreeSet<String> used = new TreeSet<>();
        for (JsonNode node : plan.findParents("Node Type")) {
            String type = node.get("Node Type").asText();
            String table = node.path("Relation Name").asText();
            if (type.equals("Seq Scan")
                    && table.matches("rowlock_(job|key|limit|slot|schedule|alert|idempotency|lease|partition).*")) {
                wrong.add(pinned.name() + ' ' + how + ": sequential scan of " + table);
            }
            if (node.has("Index Name")) {
                used.add(node.get("Index Name").asText());
            }
            boolean scan = !pinned.template().equals(WaitingSql.LANES) // which is after what is not due, too
                    && node.path("Index Name").asText().matches("rowlock_job_(due|suspect|keyed)");
            boolean fromLaneToLane = pinned.name().matches("watch-(keyed-)?foreign|any-due")
                    && !node.path("Index Cond").asText().contains("priority");
            if (scan
                    && !fromLaneToLane
                    && !node.path("Index Cond").asText().contains("run_at <= statement_timestamp()")) {
                wrong.add(pinned.name() + ' ' + how + ": run_at is no index condition: " + node.path("Index Cond"));
            }
            if (scan && node.path("Rows Removed by Filter").asInt() > 300) {
                wrong.add(pinned.name() + ' ' + how + ": rows removed by a filter: " + node);
            }
        }
        used.removeAll(pinned.indexes());
        used.forEach(index -> wrong.add(pinned.name() + ' ' + how + ": unexpected index " + index));
        return wrong;
    }
}
