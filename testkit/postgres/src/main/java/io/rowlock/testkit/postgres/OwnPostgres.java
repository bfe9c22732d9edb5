package io.rowlock.testkit.postgres;

/**
 * An embedded server that belongs to one test, which may do anything to it. Made by {@link TestPostgres#embedded}.
 *
 * <p>Safe for use by several threads; its methods wait for each other.
 */
public final class OwnPostgres implements TestPostgres, AutoCloseable {

    private final EmbeddedServer server;

    private OwnPostgres(EmbeddedServer server) {
        this.server = server;
    }

    static OwnPostgres start(PostgresOptions options) {
        EmbeddedServer server = EmbeddedServer.create(options.settings());
        server.start();
        return new OwnPostgres(server);
    }

    @Override
    public String url() {
        return server.url();
    }

    @Override
    public String user() {
        return EmbeddedServer.USER;
    }

    @Override
    public String password() {
        return EmbeddedServer.PASSWORD;
    }

    /** Stops the server and deletes its files. */
    @Override
    public void close() {
        server.delete();
    }
}
