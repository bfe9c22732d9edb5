package io.rowlock.internal.sql;

import java.sql.SQLException;
import java.util.Set;

/** What an SQLSTATE means for the connection it came over. Decided by the code, never by the text. */
public final class SqlState {
    /** Read-only after a failover, shut down, crashed, cannot connect now. */
    private static final Set<String> SERVER_GONE =
            Set.of("25006", "57P01", "57P02", "57P03", "57P05", "25P03", "53300");

    /** Data exception, constraint, trigger, external routine, WITH CHECK, PL/pgSQL. */
    private static final Set<String> REFUSALS = Set.of("22", "23", "27", "38", "39", "44", "P0");

    private static final Set<String> CURED_BY_TIME = Set.of("40", "53", "55", "57", "58");

    private SqlState() {}

    /**
     * Whether the connection is of no use any more: broken, or to a server that went away or was demoted. It must then
     * be aborted, so that a pool does not hand it out again (case B51).
     */
    public static boolean connectionLost(SQLException error) {
        String state = of(error);
        return state.startsWith("08") || SERVER_GONE.contains(state) || state.isEmpty();
    }

    /**
     * Whether the same statement may succeed later without anybody's help: broken connection, server shut down, starting,
     * out of resources or demoted, lock or time limit, deadlock, I/O error.
     */
    public static boolean curedByTime(SQLException error) {
        String state = of(error);
        return connectionLost(error) || CURED_BY_TIME.contains(state.substring(0, Math.min(2, state.length())));
    }

    /** Whether the server, or somebody's trigger, refuses the values themselves: sending them again cannot help. */
    public static boolean refusesData(SQLException error) {
        String state = of(error);
        return state.length() == 5 && REFUSALS.contains(state.substring(0, 2));
    }

    /** Whether another row has the same unique key. */
    public static boolean duplicateKey(SQLException error) {
        return of(error).equals("23505");
    }

    /** Whether somebody held a lock for longer than lock_timeout. */
    public static boolean lockTimeout(SQLException error) {
        return of(error).equals("55P03");
    }

    /** Whether an earlier statement has failed, and with it the transaction. */
    public static boolean transactionFailed(SQLException error) {
        return of(error).equals("25P02");
    }

    /** Whether the table or column is missing: the schema is not what this version needs. */
    public static boolean schemaDiffers(SQLException error) {
        return Set.of("42P01", "42703", "3F000", "42P10").contains(of(error));
    }

    /** The SQLSTATE, or an empty text. */
    public static String of(SQLException error) {
        return error.getSQLState() == null ? "" : error.getSQLState();
    }
}
