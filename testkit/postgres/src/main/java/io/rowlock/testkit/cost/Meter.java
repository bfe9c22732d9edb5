package io.rowlock.testkit.cost;

import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the server's own counters over a connection beside the proxy; leaves its own statements out. */
final class Meter implements AutoCloseable {
    private static final String OWN = "/* rowlock-cost */ ";
    private static final int LONGEST_NAME = 60;
    private static final Pattern TAG = Pattern.compile("/\\* (rowlock:[a-z-]+) \\*/");
    private static final Pattern PARAMETER = Pattern.compile("\\$\\d+");

    private final String schema;
    private final Connection connection;

    Meter(TestSchema schema) throws SQLException {
        this.schema = schema.name();
        this.connection = schema.connect();
    }

    /** What the calls of one statement cost together. */
    record StatementCost(long buffers, long wal) {
        static final StatementCost NOTHING = new StatementCost(0, 0);

        StatementCost plus(StatementCost other) {
            return new StatementCost(buffers + other.buffers, wal + other.wal);
        }
    }

    /** Vacuums all tables of the schema. */
    void vacuum() throws SQLException {
        List<String> tables = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery(
                    "SELECT relid::regclass::text FROM pg_stat_user_tables WHERE schemaname = '" + schema + "'")) {
                while (rows.next()) {
                    tables.add(rows.getString(1));
                }
            }
            for (String table : tables) {
                statement.execute("VACUUM " + table);
            }
        }
    }

    /** Versions of rows that updates have written in this schema, of sessions that have reported. */
    long updates() throws SQLException {
        return updates("n_tup_upd");
    }

    /** Those of them that wrote no index entry. */
    long hotUpdates() throws SQLException {
        return updates("n_tup_hot_upd");
    }

    private long updates(String column) throws SQLException {
        return number("SELECT coalesce(sum(" + column + "), 0)::bigint FROM pg_stat_user_tables WHERE schemaname = '"
                + schema + "'");
    }

    /** Where the write-ahead log stands. */
    long position() throws SQLException {
        return number("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint");
    }

    /** Begins the counts of {@link #statements()} anew. */
    void forgetStatements() throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(OWN + "SELECT public.pg_stat_statements_reset()")) {
            statement.execute();
        }
    }

    /** All statements of all sessions since then, by name; of those that end a transaction the server may know none. */
    Map<String, StatementCost> statements() throws SQLException {
        Map<String, StatementCost> found = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(OWN + "SELECT query,"
                        + " shared_blks_hit + shared_blks_read, wal_bytes::bigint"
                        + " FROM public.pg_stat_statements WHERE query NOT LIKE '" + OWN + "%'");
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.merge(
                        name(rows.getString(1)),
                        new StatementCost(rows.getLong(2), rows.getLong(3)),
                        StatementCost::plus);
            }
        }
        return found;
    }

    /** Rowlock's statements by their tags, the others by how they begin; parameters are written alike. */
    String name(String sql) {
        Matcher tag = TAG.matcher(sql);
        if (tag.find()) {
            return tag.group(1);
        }
        String text = PARAMETER
                .matcher(sql.replace(schema + ".", ""))
                .replaceAll("?")
                .replaceAll("\\s+", " ")
                .strip();
        return text.length() > LONGEST_NAME ? text.substring(0, LONGEST_NAME) + "..." : text;
    }

    private long number(String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(OWN + sql);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
