package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** A short transaction, READ COMMITTED whatever the default, whose waits for locks are bounded. */
public final class OwnTransaction {
    /** How long it waits for a lock. */
    public static final Duration PATIENCE = Duration.ofSeconds(5);

    private OwnTransaction() {}

    /** What is done in it. */
    @FunctionalInterface
    public interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    /** Commits, or rolls back what throws; leaves the connection as it was. */
    public static <T> T run(Connection connection, Work<T> work) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        int isolation = connection.getTransactionIsolation();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        T result;
        try {
            SessionSql.boundLockWaits(connection, PATIENCE);
            result = work.over(connection);
            connection.commit();
        } catch (Throwable e) {
            rollBack(connection, e);
            BrokenConnection.dropIfLost(connection, e);
            putBack(connection, autoCommit, isolation);
            throw e;
        }
        putBack(connection, autoCommit, isolation);
        return result;
    }

    /** What is committed is committed, and what failed has its error: a connection that cannot be put back is dropped. */
    private static void putBack(Connection connection, boolean autoCommit, int isolation) {
        try {
            if (!connection.isClosed()) {
                connection.setAutoCommit(autoCommit);
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
}
