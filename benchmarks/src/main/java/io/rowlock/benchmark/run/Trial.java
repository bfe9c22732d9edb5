package io.rowlock.benchmark.run;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** One measurement's surroundings: a schema of its own, which is dropped behind it, and how large the load is. For one thread. */
public final class Trial implements AutoCloseable {
    private final TestSchema schema;
    private final double scale;
    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
    private final Map<String, Double> also = new TreeMap<>();
    private @Nullable Connection asking;
    private Optional<Histogram> histogram = Optional.empty();

    Trial(TestSchema schema, double scale) {
        this.schema = schema;
        this.scale = scale;
    }

    /** The schema. */
    public TestSchema schema() {
        return schema;
    }

    /** So many of something, fewer in a short run. */
    public int scaled(int full) {
        return (int) Math.max(1, full * scale);
    }

    /** So long, shorter in a short run, but never so short that nothing happens. */
    public Duration lasting(Duration full) {
        return Duration.ofMillis(Math.max(1_000, (long) (full.toMillis() * scale)));
    }

    /** Tells what else was seen beside the value. */
    public void also(String name, double value) {
        also.put(name, value);
    }

    /** Tells single times, in microseconds. */
    public void recorded(Histogram micros) {
        histogram = Optional.of(micros);
    }

    Reading reading(double value) {
        return new Reading(value, Map.copyOf(also), histogram);
    }

    /** A pool of connections that find the schema first; closed with the trial. */
    public HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(schema.url());
        config.setUsername(schema.server().user());
        config.setPassword(schema.server().password());
        config.setMaximumPoolSize(size);
        return closing(new HikariDataSource(config));
    }

    /** Asks for one number, over a connection that stays, so that asking often costs little. */
    public long ask(String sql) throws SQLException {
        if (asking == null) {
            asking = closing(schema.connect());
        }
        try (PreparedStatement statement = asking.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Closes it with the trial; what was given last is closed first. */
    public <T extends AutoCloseable> T closing(T closed) {
        toClose.push(closed);
        return closed;
    }

    /** The load is in place: all of it is written to disk, and the planner knows it. */
    public void settle() throws SQLException {
        try (Connection connection = schema.server().connect();
                Statement statement = connection.createStatement()) {
            statement.execute("VACUUM ANALYZE");
            statement.execute("CHECKPOINT");
        }
    }

    @Override
    public void close() {
        try {
            while (!toClose.isEmpty()) {
                toClose.pop().close();
            }
            schema.close();
        } catch (Exception e) {
            throw new IllegalStateException("A trial could not be cleared away: " + schema.name(), e);
        }
    }
}
