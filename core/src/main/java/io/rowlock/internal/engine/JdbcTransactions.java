package io.rowlock.internal.engine;

import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.sql.SQLException;

/** Plain JDBC transactions for transactional handlers, each on a connection of its own from the data source. */
public final class JdbcTransactions implements TransactionRunner<Connection> {
    private final ConnectionSource source;

    public JdbcTransactions(ConnectionSource source) {
        this.source = source;
    }

    @Override
    public void run(Work<Connection> work) throws Exception {
        try (Connection connection = source.get()) {
            int isolation = connection.getTransactionIsolation();
            connection.setAutoCommit(true);
            isolate(connection, isolation, Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            try {
                work.begun(connection);
                work.handle(HandlerConnection.of(connection));
                work.completing(connection);
                connection.commit();
            } catch (Throwable thrown) {
                rollBack(connection, isolation, thrown);
                throw thrown;
            }
            connection.setAutoCommit(true);
            isolate(connection, Connection.TRANSACTION_READ_COMMITTED, isolation);
        }
    }

    private static void rollBack(Connection connection, int isolation, Throwable because) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
            isolate(connection, Connection.TRANSACTION_READ_COMMITTED, isolation);
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }

    private static void isolate(Connection connection, int from, int to) throws SQLException {
        if (from != to) {
            connection.setTransactionIsolation(to);
        }
    }
}
