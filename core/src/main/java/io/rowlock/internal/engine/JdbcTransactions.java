package io.rowlock.internal.engine;

import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.LentConnection;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.sql.SQLException;

/** Plain JDBC transactions for transactional handlers, each on a connection of its own from the data source. */
public final class JdbcTransactions implements TransactionRunner<Connection> {
    /* What goes round it, such as a COMMIT as text, is found when the job is completed (promise P4). */
    private static final String HANDLER =
            "a transactional handler: Rowlock commits what it wrote together with the completion of its job";

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
                work.handle(LentConnection.of(connection, HANDLER));
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
        BrokenConnection.dropIfLost(connection, because);
    }

    private static void isolate(Connection connection, int from, int to) throws SQLException {
        if (from != to) {
            connection.setTransactionIsolation(to);
        }
    }
}
