package io.rowlock.internal.sql;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Rows under leases, for tests that call the statements themselves. */
final class LeasedRows {
    static final String ME = "me";
    static final String OTHER = "other";
    static final long TOKEN = 7;

    private final TestSchema schema;

    private LeasedRows(TestSchema schema) {
        this.schema = schema;
    }

    /** Tables that are installed and empty. */
    static LeasedRows fresh(TestSchema schema) throws SQLException {
        TestRowlock.fresh(schema);
        return new LeasedRows(schema);
    }

    Names names() {
        return new Names(schema.name(), "rowlock_");
    }

    /** A due job of kind mail in its second attempt, of this owner until then. */
    long leased(String owner, String leaseFromNow) throws SQLException {
        return schema.one(
                        Long.class,
                        "INSERT INTO rowlock_job (kind, payload, locked_by, locked_until, token, attempts) VALUES"
                                + " ('mail', '{}', ?, clock_timestamp() + ?::interval, ?, 2) RETURNING id",
                        owner,
                        leaseFromNow,
                        TOKEN)
                .orElseThrow();
    }

    /** A due job of kind mail that nobody has. */
    long waiting() throws SQLException {
        return schema.one(Long.class, "INSERT INTO rowlock_job (kind, payload) VALUES ('mail', '{}') RETURNING id")
                .orElseThrow();
    }

    /** The row as it is, to be compared. */
    List<Map<String, Object>> row(long id) throws SQLException {
        return schema.rows("SELECT j::text AS row FROM rowlock_job j WHERE id = ?", id);
    }

    /** A connection whose statements wait for no lock. */
    Connection impatient() throws SQLException {
        Connection connection = schema.connect();
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET lock_timeout = '5s'");
        }
        return connection;
    }

    /** Somebody's transaction that holds the row. */
    Connection lock(long id) throws SQLException {
        Connection somebody = schema.begin();
        try (Statement statement = somebody.createStatement()) {
            statement.execute("SELECT id FROM rowlock_job WHERE id = " + id + " FOR UPDATE");
        }
        return somebody;
    }

    /** A statement under test. */
    @FunctionalInterface
    interface Statements<T> {
        T over(Connection connection) throws SQLException;
    }

    /**
     * Does a statement, and meanwhile, when it has taken its snapshot and before it locks its rows, a change by another
     * transaction. To that end the statement finds a function of the test's own where it looks for one of PostgreSQL's.
     *
     * @param function the header of the function its condition calls
     * @param body what that function gives in truth
     */
    <T> T overtaken(String function, String body, Statements<T> statements, String change) throws SQLException {
        create(function, body);
        try {
            return overtaken(statements, change);
        } finally {
            schema.execute(
                    "DROP FUNCTION " + schema.name() + "." + function.substring(0, function.indexOf(" RETURNS")));
        }
    }

    /** The same for a statement whose condition compares texts, in no index. */
    <T> T overtakenComparingTexts(Statements<T> statements, String change) throws SQLException {
        create("same(text, text) RETURNS boolean", "$1 OPERATOR(pg_catalog.=) $2");
        try {
            schema.execute("CREATE OPERATOR " + schema.name() + ".= (LEFTARG = text, RIGHTARG = text, FUNCTION = "
                    + schema.name() + ".same)");
            return overtaken(statements, change);
        } finally {
            schema.execute("DROP FUNCTION " + schema.name() + ".same CASCADE");
        }
    }

    private void create(String function, String body) throws SQLException {
        schema.execute("CREATE FUNCTION " + schema.name() + "." + function + " LANGUAGE plpgsql VOLATILE AS"
                + " $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN " + body + "; END $$");
    }

    private <T> T overtaken(Statements<T> statements, String change) throws SQLException {
        try (Connection holder = schema.begin();
                Connection connection = schema.connect()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET search_path = " + schema.name() + ", pg_catalog");
            }
            holder.createStatement().execute("SELECT pg_advisory_xact_lock(4711)");
            CompletableFuture<T> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return statements.over(connection);
                } catch (SQLException e) {
                    throw new CompletionException(e);
                }
            });
            TestRowlock.soon()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?"
                                            + " AND wait_event = 'advisory'",
                                    schema.name())
                            == 1);
            try (Connection other = impatient();
                    Statement statement = other.createStatement()) {
                statement.execute(change);
            }
            holder.commit();
            return answer.join();
        }
    }
}
