package io.rowlock.saga.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.spi.RowlockParts;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Does what people ask for, each in a transaction of its own: what somebody has locked is tried again, for 5 seconds, in a
 * new one, so that no connection waits. For many threads.
 */
final class Patience {
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(25);

    private final RowlockParts core;

    Patience(RowlockParts core) {
        this.core = core;
    }

    /** Gives null if somebody has the rows locked: nothing was written. */
    @FunctionalInterface
    interface Work<T> {
        @Nullable
        T over(Connection connection) throws SQLException;
    }

    /** The answer of the work; what is due by it is looked for. */
    <T> T patiently(String what, String saga, Work<T> work) {
        long until = System.nanoTime() + LONGEST.toNanos();
        while (true) {
            T answer = once(what, work);
            if (answer != null) {
                core.wake();
                return answer;
            }
            if (System.nanoTime() - until > 0) {
                throw new DatabaseException(
                        "Could not " + what + ": another transaction has had its row locked for " + LONGEST.toSeconds()
                                + " seconds; try again (saga=" + saga + ")",
                        new SQLException("locked", "55P03"));
            }
            LockSupport.parkNanos(PAUSE);
        }
    }

    /** One transaction; rolled back if the answer is null. */
    <T> @Nullable T once(String what, Work<T> work) {
        try (Connection connection = core.connections().get()) {
            return inTransaction(connection, work);
        } catch (SQLException e) {
            throw new DatabaseException("Could not " + what, e);
        }
    }

    private static <T> @Nullable T inTransaction(Connection connection, Work<T> work) throws SQLException {
        int isolation = connection.getTransactionIsolation();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        try {
            SessionSql.boundLockWaits(connection, LONGEST);
            T answer = work.over(connection);
            if (answer == null) {
                connection.rollback();
            } else {
                connection.commit();
            }
            putBack(connection, isolation);
            return answer;
        } catch (SQLException | RuntimeException | Error e) {
            rollBack(connection, e);
            BrokenConnection.dropIfLost(connection, e);
            putBack(connection, isolation);
            throw e;
        }
    }

    /** What is committed is committed, and what failed has its error: a connection that cannot be put back is dropped. */
    private static void putBack(Connection connection, int isolation) {
        try {
            if (!connection.isClosed()) {
                connection.setAutoCommit(true);
                connection.setTransactionIsolation(isolation);
            }
        } catch (SQLException e) {
            BrokenConnection.drop(connection);
        }
    }

    private static void rollBack(Connection connection, Throwable because) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }

    /** Reads, each statement by itself. */
    <T> T read(String what, Reading<T> reading) {
        try (Connection connection = core.connections().get()) {
            connection.setAutoCommit(true);
            return reading.over(connection);
        } catch (SQLException e) {
            throw new DatabaseException("Could not " + what, e);
        }
    }

    /** What is read. */
    @FunctionalInterface
    interface Reading<T> {
        T over(Connection connection) throws SQLException;
    }
}
