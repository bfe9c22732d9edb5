package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** Takes connections out of use that lead nowhere any more: a pool that was only given them back would lend them again (case B51). */
public final class BrokenConnection {
    private BrokenConnection() {}

    /** Drops the connection if that is what the error, or what caused it, says of it. */
    public static void dropIfLost(Connection connection, Throwable because) {
        if (SqlState.causeOf(because).filter(SqlState::connectionLost).isPresent()) {
            drop(connection);
        }
    }

    /** Aborted, so that nobody uses it again; and closed, or a pool would count it as lent for ever. Throws nothing. */
    public static void drop(Connection connection) {
        try (connection) {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException alreadyGone) {
            // nothing is left to close
        }
    }
}
