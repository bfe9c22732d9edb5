package io.rowlock.testkit.cost;

import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;

/**
 * A server on which nothing happens but what is counted: no autovacuum, no checkpoint, no full page images, {@code
 * pg_stat_statements} loaded. Clients reach it through a proxy that counts round trips. Not safe for use by several threads.
 */
public final class CostServer implements AutoCloseable {
    private final OwnPostgres server;
    private final TcpProxy proxy;

    private CostServer(OwnPostgres server, TcpProxy proxy) {
        this.server = server;
        this.proxy = proxy;
    }

    /**
     * Starts one; blocks for some seconds.
     *
     * @return a server, to be closed
     * @throws IllegalStateException if there are no binaries for this platform or it does not start
     * @throws SQLException if {@code pg_stat_statements} cannot be had
     */
    public static CostServer start() throws SQLException {
        // Commits are waited for, though not for the disk: else hints in rows are set now sooner, now later.
        OwnPostgres server = TestPostgres.embedded(options -> options.setting("synchronous_commit", "on")
                .setting("shared_preload_libraries", "pg_stat_statements")
                .setting("autovacuum", "off")
                .setting("checkpoint_timeout", "1h")
                .setting("max_wal_size", "8GB")
                .setting("bgwriter_delay", "10s")
                .setting("jit", "off"));
        try (var connection = server.connect();
                var statement = connection.createStatement()) {
            statement.execute("CREATE EXTENSION pg_stat_statements");
        } catch (SQLException e) {
            server.close();
            throw e;
        }
        return new CostServer(server, TcpProxy.to(server));
    }

    /**
     * Makes a schema of its own for a scene.
     *
     * @param name of the scene, such as {@code claim}
     * @return the scene, to be closed
     * @throws SQLException if the server refuses
     */
    public CostScene scene(String name) throws SQLException {
        return new CostScene(name, TestSchema.create(server, name.replace('-', '_')), proxy);
    }

    /** Stops the server and deletes its files. */
    @Override
    public void close() {
        proxy.close();
        server.close();
    }
}
