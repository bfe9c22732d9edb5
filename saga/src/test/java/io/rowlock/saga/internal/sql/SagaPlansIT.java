package io.rowlock.saga.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.jdbc.PreferQueryMode;

/**
 * The plans of all statements of sagas beside 20,000 sagas, with no statistics, with those of a table that was small, and with
 * fresh ones, each planned for its parameters and without knowing them.
 */
class SagaPlansIT {
    private static final int MANY = 20_000;

    /** Statements whose plans do not matter, and why. */
    private static final Map<String, String> EXEMPT = Map.of(
            "StartSql.PERMITTED", "reads no table",
            "KeepingSql.VERSIONS", "at the start, bounded");

    enum Statistics {
        NONE,
        STALE,
        FRESH
    }

    @Test
    void every_statement_is_accepted_by_the_server() throws Exception {
        List<String> refused = new ArrayList<>();
        try (TestSchema schema = installed();
                Connection connection = schema.connect()) {
            for (SagaStatements.Named named : SagaStatements.all()) {
                try (PreparedStatement statement = connection.prepareStatement(text(schema, named))) {
                    statement.getParameterMetaData(); // asks the server
                } catch (SQLException e) {
                    refused.add(named.name() + ": " + e.getMessage());
                }
            }
        }
        assertThat(refused).isEmpty();
        assertThat(SagaStatements.all()).hasSizeGreaterThan(20);
    }

    @ParameterizedTest
    @EnumSource(Statistics.class)
    @Tag("P12")
    void no_statement_walks_a_table(Statistics statistics) throws Exception {
        List<String> wrong = new ArrayList<>();
        try (TestSchema schema = loaded(statistics)) {
            for (SagaStatements.Named named : SagaStatements.all()) {
                if (!EXEMPT.containsKey(named.name())) {
                    note(wrong, named, "planned for its parameters", planned(schema, named));
                    note(wrong, named, "generic", generic(schema, named));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    private static void note(List<String> wrong, SagaStatements.Named named, String how, List<String> plan) {
        plan.stream()
                .filter(line -> line.contains("Seq Scan on rowlock_"))
                .forEach(line -> wrong.add(named.name() + ' ' + how + ": " + line.strip()));
    }

    private static String text(TestSchema schema, SagaStatements.Named named) {
        return new Sql(names(schema), named.template()).text();
    }

    private static List<String> planned(TestSchema schema, SagaStatements.Named named) throws SQLException {
        String text = text(schema, named);
        try (Connection connection = schema.begin();
                PreparedStatement plain = connection.prepareStatement(text);
                PreparedStatement explain = connection.prepareStatement("EXPLAIN " + text)) {
            ParameterMetaData parameters = plain.getParameterMetaData();
            for (int i = 1; i <= parameters.getParameterCount(); i++) {
                bind(connection, explain, i, parameters.getParameterTypeName(i));
            }
            return lines(explain.executeQuery());
        }
    }

    /** A hundred of the sagas, of their drivers, and so on. */
    private static void bind(Connection connection, PreparedStatement statement, int i, String type)
            throws SQLException {
        switch (type) {
            case "text", "varchar" -> statement.setString(i, "s000500");
            case "int8" -> statement.setLong(i, 500);
            case "int4" -> statement.setInt(i, 100);
            case "bool" -> statement.setBoolean(i, false);
            case "json" -> statement.setObject(i, "{}", java.sql.Types.OTHER);
            case "timestamptz" -> statement.setObject(i, "2026-01-05T00:00:00Z", java.sql.Types.OTHER);
            default ->
                statement.setArray(
                        i,
                        connection.createArrayOf(
                                type.substring(1), elements(type).toArray()));
        }
    }

    private static List<?> elements(String type) {
        return switch (type) {
            case "_text" ->
                IntStream.range(500, 600)
                        .mapToObj(n -> String.format("s%06d", n))
                        .toList();
            case "_int8" -> IntStream.range(500, 600).mapToObj(Long::valueOf).toList();
            case "_int4" -> Collections.nCopies(100, 1);
            case "_bool" -> Collections.nCopies(100, false);
            case "_timestamptz" -> Collections.nCopies(100, "2026-01-05T00:00:00Z");
            default ->
                throw new IllegalArgumentException("A parameter of a type that this test does not know: " + type);
        };
    }

    private static List<String> generic(TestSchema schema, SagaStatements.Named named) throws SQLException {
        var simple = schema.dataSource();
        simple.setPreferQueryMode(PreferQueryMode.SIMPLE);
        try (Connection connection = simple.getConnection();
                Statement statement = connection.createStatement()) {
            return lines(statement.executeQuery(
                    "EXPLAIN (GENERIC_PLAN) " + names(schema).apply(named.template())));
        }
    }

    private static List<String> lines(ResultSet rows) throws SQLException {
        List<String> lines = new ArrayList<>();
        while (rows.next()) {
            lines.add(rows.getString(1));
        }
        assertThat(lines).isNotEmpty();
        return lines;
    }

    private static TestSchema loaded(Statistics statistics) throws SQLException {
        TestSchema schema = installed();
        List<String> tables = List.of("saga", "saga_step", "saga_signal", "operation", "job", "job_failure");
        for (String table : tables) {
            schema.execute("ALTER TABLE rowlock_" + table + " SET (autovacuum_enabled = false)");
        }
        if (statistics == Statistics.STALE) {
            load(schema, 1, 50);
            analyze(schema, tables);
        }
        load(schema, 51, MANY);
        if (statistics == Statistics.FRESH) {
            analyze(schema, tables);
        }
        return schema;
    }

    private static void analyze(TestSchema schema, List<String> tables) throws SQLException {
        for (String table : tables) {
            schema.execute("ANALYZE rowlock_" + table);
        }
    }

    /** Sagas of ten names, half of them finished, each with three steps, a signal, an operation and a job. */
    private static void load(TestSchema schema, int from, int to) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, subject) SELECT 'saga/' || n % 10 || '/1', '\"x\"', 'key ' || n"
                        + " FROM generate_series(?, ?) n",
                from, to);
        schema.execute(
                "INSERT INTO rowlock_saga (id, name, version, business_key, subject, status, state, step, driver, created_at,"
                        + " finished_at) SELECT 's' || lpad(n::text, 6, '0'), 'name ' || n % 10, 1, 'key ' || n, 'about ' || n % 4000,"
                        + " CASE WHEN n % 2 = 0 THEN 'completed' ELSE 'running' END, '{}', 'b', CASE WHEN n % 2 = 1 THEN n END,"
                        + " timestamptz '2026-01-01 00:00Z' + n * interval '1 minute',"
                        + " CASE WHEN n % 2 = 0 THEN clock_timestamp() END FROM generate_series(?, ?) n",
                from, to);
        schema.execute(
                "INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                        + " SELECT n, 1, 'w', 'c', 'm', 's' FROM generate_series(?, ?) n",
                from,
                to);
        schema.execute(
                "INSERT INTO rowlock_saga_step (saga, step, status) SELECT 's' || lpad(n::text, 6, '0'), step, 'completed'"
                        + " FROM generate_series(?, ?) n, unnest(ARRAY['a', 'b', 'c']) step",
                from,
                to);
        schema.execute(
                "INSERT INTO rowlock_saga_signal (saga, name, payload) SELECT 's' || lpad(n::text, 6, '0'), 'paid', '{}'"
                        + " FROM generate_series(?, ?) n",
                from,
                to);
        schema.execute(
                "INSERT INTO rowlock_operation (who, why, what, saga) SELECT 'ann', 'so', 'retry', 's' || lpad(n::text, 6, '0')"
                        + " FROM generate_series(?, ?) n",
                from,
                to);
    }

    private static TestSchema installed() throws SQLException {
        TestSchema schema = TestSchema.create(TestPostgres.shared(), "sagaplans");
        Rowlock.builder()
                .connections(schema.dataSource()::getConnection)
                .schema(schema.name())
                .build()
                .schema()
                .install();
        return schema;
    }

    private static Names names(TestSchema schema) {
        return new Names(schema.name(), "rowlock_");
    }
}
