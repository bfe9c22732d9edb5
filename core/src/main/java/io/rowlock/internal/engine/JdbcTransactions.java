package io.rowlock.internal.engine;

import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.LentConnection;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** Plain JDBC transactions for transactional handlers, each on a connection of its own from the data source. */
public final class JdbcTransactions implements TransactionRunner<Connection> {
    /* What goes round it, such as a COMMIT as text, is found when the job is completed (promise P4). */
    private static final String HANDLER =
            "a transactional handler: Rowlock commits what it wrote together with the completion of its job";

    private final ConnectionSource source;
    private final @Nullable Map<Object, Integer> isolations;

    /** Asks each time in which isolation the connection comes: one round trip. */
    public JdbcTransactions(ConnectionSource source) {
        this(source, null);
    }

    private JdbcTransactions(ConnectionSource source, @Nullable Map<Object, Integer> isolations) {
        this.source = source;
        this.isolations = isolations;
    }

    /**
     * The same, but asks each session once, and again after anything has failed on it. For work whose last statement writes
     * nothing in another isolation: somebody may change a session's default behind its pool, which then costs an attempt.
     */
    static JdbcTransactions remembering(ConnectionSource source) {
        return new JdbcTransactions(source, Collections.synchronizedMap(new WeakHashMap<>()));
    }

    @Override
    public void run(Work<Connection> work) throws Exception {
        try (Connection connection = source.get()) {
            Optional<Object> session = session(connection);
            int isolation = isolation(connection, session);
            connection.setAutoCommit(true);
            isolate(connection, isolation, Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            try {
                work.begun(connection);
                work.handle(LentConnection.of(connection, HANDLER));
                work.completing(connection);
                connection.commit();
            } catch (Throwable thrown) {
                forget(session);
                rollBack(connection, isolation, thrown);
                throw thrown;
            }
            connection.setAutoCommit(true);
            isolate(connection, Connection.TRANSACTION_READ_COMMITTED, isolation);
        }
    }

    private Optional<Object> session(Connection connection) {
        return isolations == null ? Optional.empty() : PgDriver.of(connection).map(PgDriver::session);
    }

    /** The session's own, in which the connection is given back. */
    private int isolation(Connection connection, Optional<Object> session) throws SQLException {
        Integer known = isolations == null ? null : session.map(isolations::get).orElse(null);
        if (known != null) {
            return known;
        }
        int asked = connection.getTransactionIsolation();
        if (isolations != null) {
            session.ifPresent(each -> isolations.put(each, asked));
        }
        return asked;
    }

    private void forget(Optional<Object> session) {
        if (isolations != null) {
            session.ifPresent(isolations::remove);
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
