package io.rowlock.testkit.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A schema of its own on a {@link TestPostgres}, so that tests run side by side on one server. Every connection made
 * from it finds this schema only ({@code search_path}) and carries its name as {@code application_name}.
 *
 * <p>{@link PostgresTest} makes and drops one for each test class; {@link #create} makes one by hand.
 *
 * <p>The statements ({@link #execute}, {@link #update}, {@link #count}, {@link #list}, {@link #one}, {@link #rows})
 * are for setting up and for asserting: each runs at once in a connection and a transaction of its own, sees what
 * others committed, and blocks as long as the database does. Arguments are bound to {@code ?} in their order; {@code
 * null}, {@link java.time.Instant} and enums (by name) are allowed.
 *
 * <p>Safe for use by several threads.
 */
public final class TestSchema implements AutoCloseable {

    private final TestPostgres server;
    private final String name;

    private TestSchema(TestPostgres server, String name) {
        this.server = server;
        this.name = name;
    }

    /**
     * Creates a schema {@code t_<label>_<random>}.
     *
     * @param server where
     * @param label a word to recognise it by, for example the name of the test class; cut and put into lower case
     * @return a new schema, empty; {@link #drop()} it
     * @throws SQLException if the server refuses
     */
    public static TestSchema create(TestPostgres server, String label) throws SQLException {
        String name = SchemaName.of(label);
        try (Connection connection = server.connect()) {
            Statements.execute(connection, "CREATE SCHEMA " + name);
        }
        return new TestSchema(server, name);
    }

    /**
     * Finds a schema that another process has created, for example the one that started this {@link ChildJvm}.
     *
     * @param server where it is
     * @param name its {@link #name()}; whether it exists is not checked
     * @return the schema; {@link #drop()} would drop it for all
     * @throws IllegalArgumentException if no schema made by {@link #create} can have this name
     */
    public static TestSchema existing(TestPostgres server, String name) {
        return new TestSchema(server, SchemaName.check(name));
    }

    /**
     * The name of the schema.
     *
     * @return a lower-case identifier of at most 40 characters that needs no quotes
     */
    public String name() {
        return name;
    }

    /**
     * The server it is on.
     *
     * @return never null
     */
    public TestPostgres server() {
        return server;
    }

    /**
     * The JDBC URL whose connections find this schema only.
     *
     * @return with {@code currentSchema} and {@code ApplicationName}, without user and password
     */
    public String url() {
        return JdbcUrl.with(server.url(name), "ApplicationName", name);
    }

    /**
     * The user to connect as.
     *
     * @return that of the server
     */
    public String user() {
        return server.user();
    }

    /**
     * The password to connect with.
     *
     * @return that of the server
     */
    public String password() {
        return server.password();
    }

    /**
     * A data source without a pool: each {@code getConnection()} is a new connection.
     *
     * @return a new object each time
     */
    public PGSimpleDataSource dataSource() {
        return JdbcUrl.dataSource(url(), user(), password());
    }

    /**
     * Opens a connection in autocommit mode.
     *
     * @return a new connection; close it
     * @throws SQLException if the server does not accept it
     */
    public Connection connect() throws SQLException {
        return dataSource().getConnection();
    }

    /**
     * Opens a connection for a transaction that the caller ends.
     *
     * @return a new connection with autocommit off; closing it without a commit rolls back
     * @throws SQLException if the server does not accept it
     */
    public Connection begin() throws SQLException {
        Connection connection = connect();
        try {
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Runs a statement; without arguments, several of them separated by semicolons.
     *
     * @param sql one statement, or a script if there are no arguments
     * @param arguments for each {@code ?}
     * @throws SQLException if the database refuses
     */
    public void execute(String sql, @Nullable Object... arguments) throws SQLException {
        try (Connection connection = connect()) {
            Statements.execute(connection, sql, arguments);
        }
    }

    /**
     * Runs one INSERT, UPDATE or DELETE.
     *
     * @param sql the statement
     * @param arguments for each {@code ?}
     * @return the number of rows it changed
     * @throws SQLException if the database refuses
     */
    public int update(String sql, @Nullable Object... arguments) throws SQLException {
        try (Connection connection = connect()) {
            return Statements.update(connection, sql, arguments);
        }
    }

    /**
     * Asks for one number.
     *
     * @param sql a query of one row and one numeric column, for example {@code SELECT count(*) FROM job WHERE state =
     *     ?}
     * @param arguments for each {@code ?}
     * @return the number
     * @throws SQLException if the database refuses
     * @throws IllegalStateException if the answer is not one row, or null
     */
    public long count(String sql, @Nullable Object... arguments) throws SQLException {
        return one(Long.class, sql, arguments)
                .orElseThrow(() -> new IllegalStateException("No number came back from: " + sql));
    }

    /**
     * Reads the first column of every row.
     *
     * @param <T> type of the column
     * @param type what to read it as: {@code String}, {@code Long}, {@code Integer}, {@code Boolean}, {@code UUID},
     *     {@code BigDecimal}, {@code Instant}, {@code OffsetDateTime} and whatever else the driver can
     * @param sql a query
     * @param arguments for each {@code ?}
     * @return the values in the order of the answer; SQL NULL is null
     * @throws SQLException if the database refuses or the type does not fit
     */
    public <T> List<@Nullable T> list(Class<T> type, String sql, @Nullable Object... arguments) throws SQLException {
        try (Connection connection = connect()) {
            return Statements.list(connection, type, sql, arguments);
        }
    }

    /**
     * Reads the first column of the only row.
     *
     * @param <T> type of the column
     * @param type see {@link #list}
     * @param sql a query of at most one row
     * @param arguments for each {@code ?}
     * @return empty if there is no row, or if the value is SQL NULL
     * @throws SQLException if the database refuses or the type does not fit
     * @throws IllegalStateException if there are more rows
     */
    public <T> Optional<T> one(Class<T> type, String sql, @Nullable Object... arguments) throws SQLException {
        List<@Nullable T> values = list(type, sql, arguments);
        if (values.size() > 1) {
            throw new IllegalStateException(
                    "At most one row was expected, but " + values.size() + " came back from: " + sql);
        }
        return values.isEmpty() ? Optional.empty() : Optional.ofNullable(values.get(0));
    }

    /**
     * Reads every row.
     *
     * @param sql a query
     * @param arguments for each {@code ?}
     * @return a map for each row, from column name (as the database writes it, in lower case) to value, in the order
     *     of the columns
     * @throws SQLException if the database refuses
     */
    public List<Map<String, @Nullable Object>> rows(String sql, @Nullable Object... arguments) throws SQLException {
        try (Connection connection = connect()) {
            return Statements.rows(connection, sql, arguments);
        }
    }

    /**
     * Drops the schema with everything in it; nothing happens if it is gone. Connections that a test left open may
     * hold locks: after 3 seconds those that carry the schema's {@code application_name} are terminated, and the drop
     * is tried once more.
     *
     * @throws SQLException if the server refuses, or another session holds a lock for 3 more seconds
     */
    public void drop() throws SQLException {
        SchemaDrop.run(server, name);
    }

    /**
     * The same as {@link #drop()}.
     *
     * @throws SQLException if the server refuses
     */
    @Override
    public void close() throws SQLException {
        drop();
    }

    @Override
    public String toString() {
        return "TestSchema[" + name + " on " + server.url() + "]";
    }
}
