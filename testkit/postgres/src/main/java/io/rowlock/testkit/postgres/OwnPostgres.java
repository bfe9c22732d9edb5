package io.rowlock.testkit.postgres;

/**
 * An embedded server that belongs to one test, which may do to it what happens to servers: crash, stand still, come
 * back, be replaced by a standby. Made by {@link TestPostgres#embedded}.
 *
 * <pre>{@code
 * try (OwnPostgres server = TestPostgres.embedded(PostgresOptions::durable)) {
 *     ...
 *     server.kill();
 *     server.start(); // same port, same rows
 * }
 * }</pre>
 *
 * <p>Connections do not survive {@link #kill()}, {@link #stop()} and {@link #restart()}; URLs and data sources do. Its
 * processes are children of this JVM and its files are in the temporary folder; both are gone after {@link #close()}
 * and when this JVM ends. What a JVM killed with SIGKILL leaves behind, the next one that starts an embedded server
 * clears away.
 *
 * <p>Runs as an ordinary user and as root. {@link #pause()} and {@link #unpause()} need Unix.
 *
 * <p>Safe for use by several threads; its methods wait for each other.
 */
public final class OwnPostgres implements TestPostgres, AutoCloseable {

    private final EmbeddedServer server;

    private OwnPostgres(EmbeddedServer server) {
        this.server = server;
    }

    static OwnPostgres start(PostgresOptions options) {
        return new OwnPostgres(EmbeddedServer.started(options));
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

    /**
     * Kills the postmaster and all backends with SIGKILL, as a crash does. When this returns, none of them lives and
     * the port is closed. With {@link PostgresOptions#durable()} every committed row is there after the next {@link
     * #start()}; without, too, unless the whole machine crashes. Nothing happens if the server does not run.
     *
     * @throws IllegalStateException if a process outlives SIGKILL for 10 seconds
     */
    public void kill() {
        server.kill();
    }

    /**
     * Stops the server in PostgreSQL's "fast" way: open transactions are rolled back, connections are closed with
     * SQLSTATE 57P01, a checkpoint is written. Blocks until it is gone, at most 30 seconds. Nothing happens if the
     * server does not run.
     *
     * @throws IllegalStateException if it did not stop in time; it was killed then
     */
    public void stop() {
        server.stop(Signal.INT);
    }

    /**
     * Starts the server again, on the same data directory and the same port, after {@link #kill()} or {@link #stop()}.
     * Blocks until crash recovery is done and a connection was accepted, at most 60 seconds.
     *
     * @throws IllegalStateException if it runs already or does not start; the message shows its log
     */
    public void start() {
        server.start();
    }

    /**
     * {@link #stop()}, then {@link #start()}.
     *
     * @throws IllegalStateException as those
     */
    public void restart() {
        stop();
        start();
    }

    /**
     * Whether the postmaster exists; a paused one does.
     *
     * @return false after {@link #kill()} and {@link #stop()}
     */
    public boolean isRunning() {
        return server.isRunning();
    }

    /**
     * Stops all processes of the server with SIGSTOP: statements hang, locks are kept, connections stay open, new ones
     * are not answered.
     *
     * @throws IllegalStateException if the server does not run
     * @throws UnsupportedOperationException on Windows
     */
    public void pause() {
        server.pause();
    }

    /**
     * Lets all processes go on with SIGCONT.
     *
     * @throws IllegalStateException if the server does not run
     * @throws UnsupportedOperationException on Windows
     */
    public void unpause() {
        server.unpause();
    }

    /**
     * Makes a standby that streams from this server and answers reads. Blocks until it streams, about 1 second. This
     * server's commits do not wait for it, so a promotion may lose the last ones.
     *
     * @return another server, with this one's settings; close it too
     * @throws IllegalStateException if it could not be made, for example because {@code wal_level} is {@code minimal}
     */
    public OwnPostgres standby() {
        return new OwnPostgres(Standby.of(server, false));
    }

    /**
     * Makes a standby as {@link #standby()} does, and from then on each commit here waits until it is on the standby's
     * disk: a promotion loses none. While the standby does not run, commits here hang, as in production.
     *
     * @return another server, with this one's settings; close it too
     * @throws IllegalStateException if it could not be made
     */
    public OwnPostgres synchronousStandby() {
        return new OwnPostgres(Standby.of(server, true));
    }

    /**
     * Makes this standby a primary that takes writes. Blocks until it does, at most 30 seconds. The old primary is not
     * told: kill it first, or there are two.
     *
     * @throws IllegalStateException if this is no standby, or was not promoted in time
     */
    public void promote() {
        Standby.promote(server);
    }

    /** Stops the server without ceremony, if it runs, and deletes its files. A second call does nothing. */
    @Override
    public void close() {
        server.delete();
    }

    @Override
    public String toString() {
        return "OwnPostgres[" + url() + "]";
    }
}
