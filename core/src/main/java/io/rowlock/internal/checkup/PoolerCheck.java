package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
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
    private final ConnectionSource connections;

    public PoolerCheck(ConnectionSource connections) {
        this.connections = connections;
    }

    /** Whether one was seen, over a connection in autocommit; what the finding says, and what to do about it. */
    public Optional<String> seen(Connection first) throws SQLException {
        return look(first).stream()
                .filter(finding -> finding.code().equals(Symptom.TRANSACTION_POOLER.code()))
                .map(finding -> finding.seen())
                .findFirst();
    }

    /** Over a connection in autocommit. */
    List<Finding> look(Connection first) throws SQLException {
        Answers answers;
        try (Connection beside = connections.get()) {
            answers = PoolerSql.ask(first, beside);
        } catch (SQLException e) {
            return List.of(Symptom.SECOND_CONNECTION.seen(
                    "A second connection beside the first could not be had (SQLSTATE " + SqlState.of(e) + "): "
                            + e.getMessage(),
                    "Give Rowlock a pool of at least four connections for each worker, or one of its own."));
        }
        if (!answers.inTransactionMode()) {
            return List.of();
        }
        return List.of(Symptom.TRANSACTION_POOLER.seen(
                "Statements of one connection were answered by the server processes " + answers.before() + ", "
                        + answers.again() + " and " + answers.during() + ", a second connection by " + answers.second()
                        + ": a pooler in transaction mode is in between",
                "Give workers a data source that leads to the server directly, or to a pool in session mode (PgBouncer:"
                        + " pool_mode = session for that database); if"
                        + " there is none, set prepareThreshold=0 on it."));
    }
}
