package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Settings of the engine's own sessions. */
public final class SessionSql {
    /* Sets nothing where another session answers than the one that the caller knows: somebody else may have it next. */
    private static final String LIMITS = """
            /* rowlock:session-limits */
            SELECT current_setting('lock_timeout') AS lock_wait,
                   current_setting('idle_in_transaction_session_timeout') AS idle,
                   pg_backend_pid() AS backend,
                   CASE WHEN coalesce(?, pg_backend_pid()) = pg_backend_pid()
                        THEN set_config('lock_timeout', ?, false)
                             || set_config('idle_in_transaction_session_timeout', ?, false) END
            """;

    private static final String LOCK_TIMEOUT = "/* rowlock:lock-timeout */ SELECT set_config('lock_timeout', ?, true)";

    private static final String WROTE =
            "/* rowlock:wrote */ SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS wrote";

    private SessionSql() {}

    /**
     * How long a statement may wait for a lock, and how long the server keeps a transaction whose process says nothing any
     * more, stopped or cut off: it holds locks that others need.
     */
    public record Limits(String lockWait, String idle) {
        public static Limits of(Duration lockWait, Duration idle) {
            return new Limits(lockWait.toMillis() + "ms", idle.toMillis() + "ms");
        }
    }

    /**
     * Begins a transaction of the engine whatever the session is like: READ COMMITTED, with bounds for its waits and for the time in
     * which its process says nothing. Its statements go in one round trip; no setting outlives the transaction.
     */
    public static void begin(Connection connection, Duration lockWait, Duration idle) throws SQLException {
        begin(connection, lockWait, idle, "");
    }

    /**
     * The same, and with a bound for each statement as a whole: the one for locks begins anew with each of the transactions that hold
     * a shared lock on the row.
     */
    public static void begin(Connection connection, Duration lockWait, Duration idle, Duration statement)
            throws SQLException {
        begin(connection, lockWait, idle, "; SET LOCAL statement_timeout = " + Math.max(1, statement.toMillis()));
    }

    private static void begin(Connection connection, Duration lockWait, Duration idle, String more)
            throws SQLException {
        String begin = "/* rowlock:begin */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
                + " SET LOCAL lock_timeout = " + Math.max(1, lockWait.toMillis()) + ";"
                + " SET LOCAL idle_in_transaction_session_timeout = " + Math.max(1, idle.toMillis()) + more;
        try (var statement = connection.createStatement()) {
            statement.execute(begin);
        }
    }

    /** Bounds the waits for locks until the end of the transaction. */
    public static void boundLockWaits(Connection connection, Duration most) throws SQLException {
        try (var statement = connection.prepareStatement(LOCK_TIMEOUT)) {
            statement.setString(1, most.toMillis() + "ms");
            statement.execute();
        }
    }

    /**
     * Whether the transaction has written anything. To be asked before a COMMIT whose transaction others have worked in: where one of
     * its statements has failed, this one fails too, while the driver takes the server's ROLLBACK in answer to a COMMIT for success.
     */
    public static boolean wrote(Connection connection) throws SQLException {
        try (var statement = connection.prepareStatement(WROTE);
                var row = statement.executeQuery()) {
            row.next();
            return row.getBoolean("wrote");
        }
    }

    /** What was set before, and the process of the server that said so. */
    public record Before(Limits limits, int backend) {}

    /** Sets limits; gives what was set before. */
    public static Before set(Connection connection, Limits limits) throws SQLException {
        return setOn(connection, null, limits);
    }

    /** Sets limits if this process of the server answers; sets nothing if it is another one. */
    public static Before setOn(Connection connection, @Nullable Integer backend, Limits limits) throws SQLException {
        try (var statement = connection.prepareStatement(LIMITS)) {
            statement.setObject(1, backend, Types.INTEGER);
            statement.setString(2, limits.lockWait());
            statement.setString(3, limits.idle());
            try (var row = statement.executeQuery()) {
                row.next();
                return new Before(new Limits(row.getString("lock_wait"), row.getString("idle")), row.getInt("backend"));
            }
        }
    }
}
