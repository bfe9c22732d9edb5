package io.rowlock.internal.sql;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.SignStyle;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One statement with the configured names in it, ready to run. Parameters are written {@code $1}, {@code $2} as in
 * PostgreSQL itself, and may be used more than once. Immutable; the one place that knows how values go over JDBC.
 */
public final class Sql {
    private static final Pattern PARAMETER = Pattern.compile("\\$(\\d+)");

    /* Between these, ISO-8601 is what PostgreSQL writes too; outside of the other two it has only infinity. */
    private static final Instant YEAR_1 = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant YEAR_10000 = Instant.parse("+10000-01-01T00:00:00Z");
    private static final Instant EARLIEST = Instant.parse("-4712-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("+294276-12-31T00:00:00Z");
    private static final DateTimeFormatter WITH_ERA = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA, 4, 10, SignStyle.NEVER)
            .appendPattern("-MM-dd'T'HH:mm:ss.SSSSSS'Z' G")
            .toFormatter(Locale.ENGLISH);

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
    public record ArrayOf(String type, List<? extends @Nullable Object> values) {
        /** In an array of their own type: only such a one goes in binary, which neither side has to write out and parse. */
        private @Nullable Object[] elements() {
            return switch (type) {
                case "text" -> values.toArray(new String[0]);
                case "bigint" -> values.toArray(new Long[0]);
                case "integer" -> values.toArray(new Integer[0]);
                default -> values.toArray();
            };
        }
    }

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
                statement.setArray(i + 1, connection.createArrayOf(array.type(), array.elements()));
            } else {
                statement.setObject(i + 1, value);
            }
        }
    }

    /** One value of each row, for an array parameter. */
    public static <T, V> List<@Nullable V> column(
            Collection<? extends T> rows, Function<? super T, ? extends @Nullable V> value) {
        List<@Nullable V> values = new ArrayList<>(rows.size());
        rows.forEach(row -> values.add(value.apply(row)));
        return values;
    }

    public static ArrayOf texts(Collection<? extends @Nullable String> values) {
        return new ArrayOf("text", new ArrayList<>(values));
    }

    public static ArrayOf bigints(Collection<? extends @Nullable Long> values) {
        return new ArrayOf("bigint", new ArrayList<>(values));
    }

    public static ArrayOf integers(Collection<? extends @Nullable Integer> values) {
        return new ArrayOf("integer", new ArrayList<>(values));
    }

    public static ArrayOf booleans(Collection<Boolean> values) {
        return new ArrayOf("boolean", new ArrayList<>(values));
    }

    /** JSON texts, for columns of type json. */
    public static ArrayOf jsons(Collection<? extends @Nullable String> values) {
        return new ArrayOf("json", new ArrayList<>(values));
    }

    /** Instants go as texts, see {@link #timestamp}. */
    public static ArrayOf instants(Collection<? extends @Nullable Instant> values) {
        List<@Nullable String> texts = new ArrayList<>(values.size());
        values.forEach(at -> texts.add(timestamp(at)));
        return new ArrayOf("timestamptz", texts);
    }

    /**
     * An instant as a text that PostgreSQL reads the same in any session time zone. What somebody's SQL may have put
     * into a row, such as -infinity, must come back as it was, or the scan that goes on from there fails for ever.
     */
    public static @Nullable String timestamp(@Nullable Instant at) {
        if (at == null || (!at.isBefore(YEAR_1) && at.isBefore(YEAR_10000))) {
            return at == null ? null : at.toString();
        }
        if (at.isBefore(EARLIEST) || at.isAfter(LATEST)) {
            return at.isBefore(EARLIEST) ? "-infinity" : "infinity";
        }
        return WITH_ERA.format(at.atOffset(ZoneOffset.UTC));
    }

    /** Microseconds, the finest the database keeps. */
    public static long micros(Duration duration) {
        return Math.addExact(Math.multiplyExact(duration.getSeconds(), 1_000_000L), duration.getNano() / 1_000);
    }

    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    public static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
        return at == null ? null : at.toInstant();
    }

    public static Instant requiredInstant(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instant(row, column), column);
    }

    /** The elements of a bigint array column; none for NULL. */
    public static List<Long> longs(ResultSet row, String column) throws SQLException {
        Array array = row.getArray(column);
        return array == null ? List.of() : List.of((Long[]) array.getArray());
    }
}
