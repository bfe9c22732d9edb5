package io.rowlock.internal.sql;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Binds parameters and reads rows: the one place that knows how values go over JDBC. */
public final class Statements {
    private Statements() {}

    /** A parameter that is an array of a PostgreSQL type. */
    record ArrayOf(String type, List<? extends @Nullable Object> values) {}

    /** Reads one row. */
    @FunctionalInterface
    public interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    static ArrayOf texts(Collection<? extends @Nullable String> values) {
        return new ArrayOf("text", new ArrayList<>(values));
    }

    static ArrayOf bigints(Collection<? extends @Nullable Long> values) {
        return new ArrayOf("bigint", new ArrayList<>(values));
    }

    static ArrayOf integers(Collection<? extends @Nullable Integer> values) {
        return new ArrayOf("integer", new ArrayList<>(values));
    }

    /** Instants go as ISO texts, which PostgreSQL reads in any session time zone. */
    static ArrayOf instants(Collection<? extends @Nullable Instant> values) {
        List<@Nullable String> texts = new ArrayList<>(values.size());
        values.forEach(at -> texts.add(at == null ? null : at.toString()));
        return new ArrayOf("timestamptz", texts);
    }

    /** Microseconds, the finest the database keeps. */
    static long micros(Duration duration) {
        return Math.addExact(Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1_000);
    }

    /** Runs a query and reads all rows. */
    public static <T> List<T> query(Connection connection, String sql, RowReader<T> reader, @Nullable Object... params)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(connection, statement, params);
            try (ResultSet rows = statement.executeQuery()) {
                List<T> result = new ArrayList<>();
                while (rows.next()) {
                    result.add(reader.read(rows));
                }
                return result;
            }
        }
    }

    /** Runs a statement and gives the update count. */
    public static int update(Connection connection, String sql, @Nullable Object... params) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(connection, statement, params);
            return statement.executeUpdate();
        }
    }

    static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
        return at == null ? null : at.toInstant();
    }

    private static void bind(Connection connection, PreparedStatement statement, @Nullable Object[] params)
            throws SQLException {
        for (int i = 0; i < params.length; i++) {
            Object value = params[i];
            if (value instanceof ArrayOf array) {
                Array bound =
                        connection.createArrayOf(array.type(), array.values().toArray());
                statement.setArray(i + 1, bound);
            } else {
                statement.setObject(i + 1, value);
            }
        }
    }
}
