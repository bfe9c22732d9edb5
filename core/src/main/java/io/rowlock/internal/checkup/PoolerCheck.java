package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.PoolerSql;
import io.rowlock.internal.sql.PoolerSql.Answers;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Whether there is a pooler in transaction mode between here and the server, and whether a second connection can be had. */
public final class PoolerCheck {
    private static final int ANSWER_MILLIS = 2_000;

    private final ConnectionSource connections;

    public PoolerCheck(ConnectionSource connections) {
        this.connections = connections;
    }

    /**
     * Whether one was seen, over a connection in autocommit; what the finding says, and what to do about it.
     *
     * @throws SQLException if it could not be found out, for want of a second connection too: it may be there then
     */
    public Optional<String> seen(Connection first) throws SQLException {
        return between(ask(first)).map(Finding::seen);
    }

    /** Over a connection in autocommit. */
    List<Finding> look(Connection first) {
        try {
            return between(ask(first)).stream().toList();
        } catch (SQLException e) {
            return List.of(Symptom.SECOND_CONNECTION.seen(
                    "A second connection beside the first could not be had (SQLSTATE " + SqlState.of(e) + "): "
                            + e.getMessage(),
                    "Give Rowlock a pool of at least four connections for each worker, or one of its own."));
        }
    }

    /** The second one may be hung where the first is not. */
    private Answers ask(Connection first) throws SQLException {
        try (Connection beside = connections.get()) {
            try {
                int networkTimeout = beside.getNetworkTimeout();
                beside.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
                Answers answers = PoolerSql.ask(first, beside);
                beside.setNetworkTimeout(Runnable::run, networkTimeout);
                return answers;
            } catch (SQLException | RuntimeException | Error e) {
                BrokenConnection.drop(beside);
                throw e;
            }
        }
    }

    private static Optional<Finding> between(Answers answers) {
        if (!answers.inTransactionMode()) {
            return Optional.empty();
        }
        return Optional.of(Symptom.TRANSACTION_POOLER.seen(
                "Statements of one connection were answered by the server processes " + answers.before() + ", "
                        + answers.again() + " and " + answers.during() + ", a second connection by " + answers.second()
                        + ": a pooler in transaction mode is in between",
                "Give workers a data source that leads to the server directly, or to a pool in session mode (PgBouncer:"
                        + " pool_mode = session for that database); if"
                        + " there is none, set prepareThreshold=0 on it."));
    }
}
