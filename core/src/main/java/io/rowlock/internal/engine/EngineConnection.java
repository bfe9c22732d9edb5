package io.rowlock.internal.engine;

import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.SessionSql.Limits;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One connection that the engine holds on to, apart from what the application does with its pool, so that a full pool
 * stops no heartbeat. Opened when first needed; READ COMMITTED and autocommit whatever the default; a network timeout
 * bounds every answer, half of it every wait for a lock, and four times of it every
 * transaction in which this process stands still. When it turns out broken, or its server read-only after a failover, it is aborted, so that no
 * pool hands it out again, and the next call opens another (case B51). For one thread at a time; the lock is for stop.
 */
public final class EngineConnection implements AutoCloseable {
    private final ConnectionSource source;
    private final int timeoutMillis;
    private final @Nullable Limits limits;
    private final ReentrantLock lock = new ReentrantLock(true); // fair: no loop keeps another from it
    private @Nullable Held held;
    private Parting parting = connection -> {};
    private volatile boolean closed;

    /**
     * Not yet open.
     *
     * @param source where connections come from
     * @param answerWithin the network timeout, at least 1 ms
     */
    public EngineConnection(ConnectionSource source, Duration answerWithin) {
        this(source, answerWithin, Limits.of(answerWithin.dividedBy(2), answerWithin.multipliedBy(4)));
    }

    private EngineConnection(ConnectionSource source, Duration answerWithin, @Nullable Limits limits) {
        this.source = source;
        this.timeoutMillis = Math.toIntExact(answerWithin.toMillis());
        this.limits = limits;
    }

    /**
     * The same, but nothing is set for a session, which behind a pooler in transaction mode is another one each time, and
     * somebody else's next: each transaction begins by {@link SessionSql#begin}.
     */
    public static EngineConnection withoutSession(ConnectionSource source, Duration answerWithin) {
        return new EngineConnection(source, answerWithin, null);
    }

    /** What is done over the connection. */
    @FunctionalInterface
    public interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    /** What is undone before the connection is given back. */
    @FunctionalInterface
    public interface Parting {
        void over(Connection connection) throws SQLException;
    }

    /** To be called before the first use. */
    public void onGivingBack(Parting undo) {
        parting = undo;
    }

    private record Held(
            Connection connection,
            int isolation,
            int networkTimeout,
            @Nullable SessionLimits limits) {}

    /** Runs statements that are each their own transaction. */
    public <T> T call(Work<T> work) throws SQLException {
        lock.lock();
        try {
            return perform(work);
        } finally {
            lock.unlock();
            if (closed) {
                close();
            }
        }
    }

    private <T> T perform(Work<T> work) throws SQLException {
        Held open = open();
        try {
            return work.over(open.connection());
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                abort(open);
            }
            throw e;
        } catch (RuntimeException | Error e) {
            abort(open);
            throw e;
        }
    }

    /** Runs statements in one transaction and commits it; rolls back on any throwable. */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        return call(connection -> {
            connection.setAutoCommit(false);
            try {
                T result = work.over(connection);
                connection.commit();
                connection.setAutoCommit(true);
                return result;
            } catch (Throwable e) {
                rollBack(connection, e);
                throw e;
            }
        });
    }

    private static void rollBack(Connection connection, Throwable because) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }

    private Held open() throws SQLException {
        if (held != null) {
            return held;
        }
        Connection connection = source.get();
        try {
            connection.setAutoCommit(true);
            int networkTimeout = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, timeoutMillis);
            Held opened = limits == null
                    ? new Held(connection, Connection.TRANSACTION_READ_COMMITTED, networkTimeout, null)
                    : new Held(
                            connection,
                            connection.getTransactionIsolation(),
                            networkTimeout,
                            SessionLimits.set(connection, source, limits));
            if (opened.isolation() != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            held = opened;
            return opened;
        } catch (SQLException | RuntimeException e) {
            BrokenConnection.drop(connection);
            throw e;
        }
    }

    private void abort(Held broken) {
        held = null;
        BrokenConnection.drop(broken.connection());
    }

    /** Gives the connection back as it was: at once, or, while a statement is on its way, when that has ended. */
    @Override
    public void close() {
        closed = true;
        if (lock.tryLock()) {
            try {
                giveBack();
            } finally {
                lock.unlock();
            }
        }
    }

    private void giveBack() {
        if (held == null) {
            return;
        }
        Held last = held;
        held = null;
        try (Connection connection = last.connection()) {
            parting.over(connection);
            if (last.limits() != null) {
                last.limits().restore(connection);
            }
            connection.setNetworkTimeout(Runnable::run, last.networkTimeout());
            if (last.isolation() != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(last.isolation());
            }
        } catch (SQLException | RuntimeException e) {
            abort(last);
        }
    }
}
