package io.rowlock.testkit.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs one statement on a connection and reads all of its answer. */
final class Statements {

    private Statements() {}

    static void execute(Connection connection, String sql, @Nullable Object... arguments) throws SQLException {
        if (arguments.length == 0) {
            // Not prepared: a script may hold a question mark of its own, as an operator or in a text.
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
            return;
        }
        try (PreparedStatement statement = prepare(connection, sql, arguments)) {
            statement.execute();
        }
    }

    static int update(Connection connection, String sql, @Nullable Object... arguments) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, arguments)) {
            return statement.executeUpdate();
        }
    }

    static <T> List<@Nullable T> list(Connection connection, Class<T> type, String sql, @Nullable Object... arguments)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, arguments);
                ResultSet result = statement.executeQuery()) {
            List<@Nullable T> values = new ArrayList<>();
            while (result.next()) {
                values.add(read(result, type));
            }
            return values;
        }
    }

    static List<Map<String, @Nullable Object>> rows(Connection connection, String sql, @Nullable Object... arguments)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, arguments);
                ResultSet result = statement.executeQuery()) {
            List<Map<String, @Nullable Object>> rows = new ArrayList<>();
            ResultSetMetaData columns = result.getMetaData();
            while (result.next()) {
                Map<String, @Nullable Object> row = new LinkedHashMap<>();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    row.put(columns.getColumnLabel(i), result.getObject(i));
                }
                rows.add(row);
            }
            return rows;
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, @Nullable Object... arguments)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < arguments.length; i++) {
            statement.setObject(i + 1, bindable(arguments[i]));
        }
        return statement;
    }

    /** The driver knows neither Instant nor enums. */
    private static @Nullable Object bindable(@Nullable Object argument) {
        if (argument instanceof Instant instant) {
            return instant.atOffset(ZoneOffset.UTC);
        }
        return argument instanceof Enum<?> constant ? constant.name() : argument;
    }

    private static <T> @Nullable T read(ResultSet result, Class<T> type) throws SQLException {
        if (type == Instant.class) {
            OffsetDateTime time = result.getObject(1, OffsetDateTime.class);
            return time == null ? null : type.cast(time.toInstant());
        }
        return type == Object.class ? type.cast(result.getObject(1)) : result.getObject(1, type);
    }
}
