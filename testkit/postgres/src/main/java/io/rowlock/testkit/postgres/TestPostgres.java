package io.rowlock.testkit.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PostgreSQL server for tests.
 *
 * <p>{@link #shared()} is the one server of this JVM. Where it comes from is decided once, by one switch; each name is
 * a system property, and in upper case with underscores ({@code ROWLOCK_TEST_JDBC_URL}) an environment variable, which
 * the property overrides:
 *
 * <ol>
 *   <li>{@code rowlock.test.jdbc-url} (with {@code rowlock.test.jdbc-user} and {@code rowlock.test.jdbc-password}, both
 *       {@code postgres} by default): a server that runs already. The user must be allowed to create schemas. Nothing
 *       outside those schemas is touched.
 *   <li>else, if Docker answers: a container of the image {@code rowlock.test.postgres-image} ({@code postgres:17} by
 *       default). If it cannot be started, a warning is logged and the next way is taken; an image that cannot be
 *       pulled costs some minutes until then.
 *   <li>else: PostgreSQL 17 unpacked from the class path and started on a free port of 127.0.0.1. It works as root too.
 * </ol>
 *
 * <p>{@code rowlock.test.postgres} = {@code url}, {@code docker} or {@code embedded} forces one of them, and then a
 * failure is an error, never a silent second choice. The second and the third get fast settings ({@code fsync=off},
 * {@code synchronous_commit=off}): committed rows survive a client's crash, but not a crash of the machine. {@code
 * max_connections} is 300.
 *
 * <p>{@link #embedded(Consumer)} starts another server, which the test owns and may kill: see {@link OwnPostgres}.
 *
 * <p>Safe for use by several threads.
 */
public sealed interface TestPostgres permits SharedPostgres, OwnPostgres {

    /**
     * The one server of this JVM. The first call starts it, which blocks for 1 to 6 seconds (embedded) or as long as
     * pulling an image takes (Docker); later calls return at once. It is stopped, and its files are deleted, when the
     * JVM ends.
     *
     * @return the same server each time
     * @throws IllegalStateException if no server could be had; the message names the other ways. A later call throws
     *     the same again
     */
    static TestPostgres shared() {
        return SharedPostgres.get();
    }

    /**
     * Starts an embedded server of one's own, on a new data directory and a free port, with the settings of {@link
     * #shared()} unless changed. Blocks for 1 to 6 seconds.
     *
     * @param options changes the settings, for example {@code o -> o.durable().setting("wal_level", "logical")}
     * @return a started server; {@link OwnPostgres#close()} it
     * @throws IllegalStateException if there are no binaries for this platform or the server does not start
     */
    static OwnPostgres embedded(Consumer<PostgresOptions> options) {
        PostgresOptions chosen = new PostgresOptions();
        options.accept(chosen);
        return OwnPostgres.start(chosen);
    }

    /**
     * The JDBC URL of the server's database, without user and password.
     *
     * @return for example {@code jdbc:postgresql://127.0.0.1:21022/postgres}
     */
    String url();

    /**
     * The JDBC URL with a schema as the only one in the search path.
     *
     * @param schema name of the schema, in lower case
     * @return {@link #url()} with {@code currentSchema}
     */
    default String url(String schema) {
        return JdbcUrl.with(url(), "currentSchema", schema);
    }

    /**
     * The host the server listens on.
     *
     * @return a name or an address
     */
    default String host() {
        return JdbcUrl.host(url());
    }

    /**
     * The port the server listens on.
     *
     * @return 1 to 65535
     */
    default int port() {
        return JdbcUrl.port(url());
    }

    /**
     * The user to connect as.
     *
     * @return {@code postgres}, a superuser, unless the switch names another
     */
    String user();

    /**
     * The password to connect with.
     *
     * @return never null; the embedded server does not look at it
     */
    String password();

    /**
     * A data source without a pool: each {@code getConnection()} is a new connection.
     *
     * @return a new object each time
     */
    default PGSimpleDataSource dataSource() {
        return JdbcUrl.dataSource(url(), user(), password());
    }

    /**
     * Opens a connection to the server's database, outside any test schema.
     *
     * @return a new connection in autocommit mode; close it
     * @throws SQLException if the server does not accept it
     */
    default Connection connect() throws SQLException {
        return dataSource().getConnection();
    }
}
