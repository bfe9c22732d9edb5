package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** A short transaction, READ COMMITTED whatever the default, whose waits for locks are bounded. */
public final class OwnTransaction {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

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
        try {
            SessionSql.boundLockWaits(connection, PATIENCE);
            T result = work.over(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException e) {
            rollBack(connection, e);
            BrokenConnection.dropIfLost(connection, e);
            throw e;
        } finally {
            connection.setAutoCommit(autoCommit);
            connection.setTransactionIsolation(isolation);
        }
    }

    private static void rollBack(Connection connection, Exception because) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }
}
