package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Settings of the engine's own sessions. */
public final class SessionSql {
    private static final String LOCK_TIMEOUT = "/* rowlock:lock-timeout */ SELECT current_setting('lock_timeout'),"
            + " set_config('lock_timeout', ?, false)";

    private SessionSql() {}

    /** Bounds how long a statement may wait for a lock; gives what was set before. */
    public static String boundLockWaits(Connection connection, Duration most) throws SQLException {
        return setLockTimeout(connection, most.toMillis() + "ms");
    }

    /** Puts back what was set before. */
    public static void restoreLockWaits(Connection connection, String before) throws SQLException {
        setLockTimeout(connection, before);
    }

    private static String setLockTimeout(Connection connection, String value) throws SQLException {
        try (var statement = connection.prepareStatement(LOCK_TIMEOUT)) {
            statement.setString(1, value);
            try (var row = statement.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        }
    }
}
