package io.rowlock.internal.lease;

import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Connections within a time: neither a full pool nor a network that answers nothing, where a driver may wait for ever, keeps a
 * renewal from trying again. One that comes too late is closed. Three openings are waited for at once; one that has hung for
 * 15 s counts no more, or three of them would be the end of all renewals, but there are no more than twenty within five minutes.
 */
final class PromptConnections implements ConnectionSource {
    private final ConnectionSource source;
    private final Duration within;
    private final Openings openings;

    private PromptConnections(ConnectionSource source, Duration within, Openings openings) {
        this.source = source;
        this.within = within;
        this.openings = openings;
    }

    PromptConnections(ConnectionSource source, Duration within) {
        this(source, within, new Openings(Duration.ofSeconds(15)));
    }

    /** The same, within another time; counts the openings of both. */
    PromptConnections within(Duration other) {
        return new PromptConnections(source, other, openings);
    }

    @Override
    public Connection get() throws SQLException {
        try {
            CompletableFuture<Connection> opening = new CompletableFuture<>();
            if (!openings.begin(opening, within)) {
                throw late("other connections are being opened and none has come");
            }
            start(opening);
            return await(opening);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw late("the thread was interrupted");
        }
    }

    private void start(CompletableFuture<Connection> opening) {
        try {
            Thread opener = new Thread(null, () -> open(opening), "rowlock-lease-connect", 0, false);
            opener.setDaemon(true);
            opener.start();
        } catch (RuntimeException | Error noThread) {
            openings.end(opening);
            throw noThread;
        }
    }

    private void open(CompletableFuture<Connection> opening) {
        try {
            Connection connection = source.get();
            if (!opening.complete(connection)) {
                connection.close();
            }
        } catch (Throwable thrown) {
            opening.completeExceptionally(thrown);
        } finally {
            openings.end(opening);
        }
    }

    private Connection await(CompletableFuture<Connection> opening) throws SQLException, InterruptedException {
        try {
            return opening.get(within.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SQLException refused) {
                throw refused;
            }
            throw new SQLException("No connection can be had: " + e.getCause(), SqlState.UNREACHABLE, e.getCause());
        } catch (TimeoutException | InterruptedException e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            SQLException late = late("none came");
            if (!opening.completeExceptionally(late)) {
                return opening.join(); // it came at the last moment
            }
            throw late;
        }
    }

    private SQLException late(String why) {
        return new SQLTransientConnectionException(
                "No connection within " + within.toMillis() + " ms: " + why, SqlState.UNREACHABLE);
    }
}
