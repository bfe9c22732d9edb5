package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/*
 * A pooler in transaction mode lends one session of the server to each transaction. Where it is busy, two statements of one
 * connection meet different server processes. Where it is idle it lends the same one every time, and looks like a server:
 * so a second connection opens a transaction and keeps it. It then has the very process that the first has just used, which
 * two connections to a server never share; and the first, asked again, gets another one. The transaction is read-only and
 * rolled back at once.
 */
/** Whether there is a pooler in transaction mode between here and the server, and whether a second connection can be had. */
final class PoolerCheck {
    private final ConnectionSource connections;

    PoolerCheck(ConnectionSource connections) {
        this.connections = connections;
    }

    /** Over a connection in autocommit. */
    List<Finding> look(Connection first) throws SQLException {
        int before = CheckupSql.backend(first);
        int again = CheckupSql.backend(first);
        int second;
        int during;
        try (Connection beside = connections.get()) {
            boolean autoCommit = beside.getAutoCommit();
            beside.setAutoCommit(false);
            try {
                second = CheckupSql.backend(beside);
                during = CheckupSql.backend(first);
            } finally {
                beside.rollback();
                beside.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            return List.of(Symptom.SECOND_CONNECTION.seen(
                    "A second connection beside the first could not be had (SQLSTATE " + SqlState.of(e) + "): "
                            + e.getMessage(),
                    "Give Rowlock a pool of at least four connections for each worker, or one of its own."));
        }
        if (before == again && before == during && before != second) {
            return List.of();
        }
        return List.of(Symptom.TRANSACTION_POOLER.seen(
                "Statements of one connection were answered by the server processes " + before + ", " + again + " and "
                        + during + ", a second connection by " + second
                        + ": a pooler in transaction mode is in between",
                "Give workers a data source that leads to the server directly, or to a pool in session mode (PgBouncer:"
                        + " pool_mode = session for that database)."));
    }
}
