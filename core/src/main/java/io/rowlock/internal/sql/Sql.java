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
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One statement with the configured names in it, ready to run. Parameters are written {@code $1}, {@code $2} as in
 * PostgreSQL itself, and may be used more than once. Immutable; the one place that knows how values go over JDBC.
 */
public final class Sql {
    private static final Pattern PARAMETER = Pattern.compile("\\$(\\d+)");

    private final String text;
    private final List<Integer> order = new ArrayList<>();

    public Sql(Names names, String template) {
        Matcher parameters = PARAMETER.matcher(template);
        while (parameters.find()) {
            order.add(Integer.parseInt(parameters.group(1)) - 1);
        }
        this.text = names.apply(parameters.replaceAll("?"));
    }

    /** The text as it goes to the driver. */
    public String text() {
        return text;
    }

    /** A parameter that is an array of a PostgreSQL type. */
    record ArrayOf(String type, List<? extends @Nullable Object> values) {}

    /** Reads one row. */
    @FunctionalInterface
    public interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Runs a query and reads all rows. */
    public <T> List<T> query(Connection connection, RowReader<T> reader, @Nullable Object... params)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
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
    public int update(Connection connection, @Nullable Object... params) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(text)) {
            bind(connection, statement, params);
            return statement.executeUpdate();
        }
    }

    private void bind(Connection connection, PreparedStatement statement, @Nullable Object[] params)
            throws SQLException {
        for (int i = 0; i < order.size(); i++) {
            Object value = params[order.get(i)];
            if (value instanceof ArrayOf array) {
                Array bound =
                        connection.createArrayOf(array.type(), array.values().toArray());
                statement.setArray(i + 1, bound);
            } else {
                statement.setObject(i + 1, value);
            }
        }
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

    static ArrayOf booleans(Collection<Boolean> values) {
        return new ArrayOf("boolean", new ArrayList<>(values));
    }

    /** Instants go as ISO texts, which PostgreSQL reads the same in any session time zone. */
    static ArrayOf instants(Collection<? extends @Nullable Instant> values) {
        List<@Nullable String> texts = new ArrayList<>(values.size());
        values.forEach(at -> texts.add(at == null ? null : at.toString()));
        return new ArrayOf("timestamptz", texts);
    }

    /** Microseconds, the finest the database keeps. */
    static long micros(Duration duration) {
        return Math.addExact(Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1_000);
    }

    static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
        return at == null ? null : at.toInstant();
    }

    static Instant requiredInstant(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instant(row, column), column);
    }

    /** The elements of a bigint array column; none for NULL. */
    static List<Long> longs(ResultSet row, String column) throws SQLException {
        Array array = row.getArray(column);
        return array == null ? List.of() : List.of((Long[]) array.getArray());
    }
}
