package io.rowlock.internal.sql;

import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;

/**
 * What an SQLSTATE means: for the connection it came over, for the statement, for the transaction. Decided by the code, never by
 * the text. Every loop of the engine, and whatever else tries again, asks here and nowhere else.
 */
public final class SqlState {
    /** Read-only after a failover, shut down, crashed, cannot connect now, idle for too long, no connection left. */
    private static final Set<String> SERVER_GONE =
            Set.of("25006", "57P01", "57P02", "57P03", "57P05", "25P03", "53300");

    /** Data exception, constraint, trigger, external routine, WITH CHECK, PL/pgSQL. */
    private static final Set<String> REFUSALS = Set.of("22", "23", "27", "38", "39", "44", "P0");

    private static final Set<String> CURED_BY_TIME = Set.of("40", "53", "55", "57", "58");

    /** Of errors of our own: a connection that could not be had. */
    public static final String UNREACHABLE = "08001";

    /** Serialisation failure, deadlock: the server has rolled the transaction back, at COMMIT too. */
    private static final Set<String> ROLLED_BACK = Set.of("40001", "40P01");

    /** How many causes are looked at: two may be the cause of each other. */
    private static final int DEEP = 50;

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

    /**
     * Whether what stands in the way is no fault of the rows and of who works on them: time cures it, or an operator who gives back a
     * right or a login. Work is kept waiting meanwhile, and nobody has failed.
     */
    public static boolean curedOutside(SQLException error) {
        return curedByTime(error) || of(error).equals("42501") || of(error).startsWith("28");
    }

    /**
     * Whether a transaction that had not sent its COMMIT may be done again from its beginning, over a new connection: nothing of it
     * is there, and what stopped it was not the work itself. Not for limits of time and locks: whoever set them wants to hear.
     */
    public static boolean repeatable(SQLException error) {
        return rolledBack(error) || (connectionLost(error) && !of(error).isEmpty());
    }

    /** Whether the server, or this transaction of it, takes no writes. */
    public static boolean serverReadOnly(SQLException error) {
        return of(error).equals("25006");
    }

    /** Whether the server has rolled the transaction back for the sake of others, whatever statement it answers, COMMIT too. */
    public static boolean rolledBack(SQLException error) {
        return ROLLED_BACK.contains(of(error));
    }

    /** Whether an error that came instead of the answer to a COMMIT leaves open what became of it. */
    public static boolean commitUnknown(SQLException error) {
        return connectionLost(error) || of(error).equals("40003");
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

    /** Whether the statement was cancelled, by its timeout or by a person. */
    public static boolean canceled(SQLException error) {
        return of(error).equals("57014");
    }

    /** Whether an earlier statement has failed, and with it the transaction. */
    public static boolean transactionFailed(SQLException error) {
        return of(error).equals("25P02");
    }

    /** What had failed before, which the driver knows, where a transaction refuses statements since; else the error itself. */
    public static SQLException hidden(SQLException error) {
        return transactionFailed(error) && error.getCause() instanceof SQLException first ? first : error;
    }

    /** Whether a savepoint is not there, or no transaction that could have one. */
    public static boolean savepointGone(SQLException error) {
        return Set.of("3B001", "25P01").contains(of(error));
    }

    /** Whether the table or column is missing: the schema is not what this version needs. */
    public static boolean schemaDiffers(SQLException error) {
        return Set.of("42P01", "42703", "3F000", "42P10").contains(of(error));
    }

    /** The SQLSTATE, or an empty text. */
    public static String of(SQLException error) {
        return error.getSQLState() == null ? "" : error.getSQLState();
    }

    /** What the database said, where something else was thrown because of it; empty if it said nothing. */
    public static Optional<SQLException> causeOf(Throwable thrown) {
        Throwable each = thrown;
        for (int depth = 0; each != null && depth < DEEP; depth++) {
            if (each instanceof SQLException error) {
                return Optional.of(error);
            }
            each = each.getCause();
        }
        return Optional.empty();
    }

    /** Whether an error is of this kind, or was thrown because of one. */
    public static boolean isCausedBy(Throwable thrown, Class<? extends Throwable> kind) {
        Throwable each = thrown;
        for (int depth = 0; each != null && depth < DEEP; depth++) {
            if (kind.isInstance(each)) {
                return true;
            }
            each = each.getCause();
        }
        return false;
    }

    /** What time does not cure, behind what a pool throws with no SQLSTATE or one of its own; else the error itself. */
    public static SQLException stated(SQLException error) {
        Throwable each = error;
        for (int depth = 0; each != null && depth < DEEP; depth++) {
            if (each instanceof SQLException stated && !curedByTime(stated)) {
                return stated;
            }
            each = each.getCause();
        }
        return error;
    }
}
