package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Advisory locks of a session: they live as long as it does, so a transaction-mode pooler makes nonsense of them. */
public final class AdvisoryLockSql {
    /*
     * Locks: the advisory lock, until it is unlocked or the session ends. Waits for nobody. A standby gives such locks too, its own:
     * its leader would be one beside that of the primary, so it is not asked for there.
     */
    private static final String TRY = """
            /* rowlock:try-leader-lock */
            SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_try_advisory_lock($1::bigint) END AS done
            """;

    /* Whether a server process has the lock; null: the one that was asked is a standby. No index, no lock: pg_locks is memory. */
    private static final String HELD = """
            SELECT CASE WHEN NOT pg_is_in_recovery() THEN EXISTS (
              SELECT 1
              FROM pg_locks
              WHERE locktype = 'advisory' AND pid = %s AND granted AND objsubid = 1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid) END AS done
            """;

    /* This very one: a new connection has no lock. */
    private static final String MINE = "/* rowlock:have-leader-lock */ " + HELD.formatted("pg_backend_pid()");

    /* Another one, asked beside it. */
    private static final String THEIRS = "/* rowlock:see-leader-lock */ " + HELD.formatted("$2::integer");

    private static final String UNLOCK = "/* rowlock:leader-unlock */ SELECT pg_advisory_unlock($1::bigint) AS done";

    private final Sql tryLock;
    private final Sql mine;
    private final Sql theirs;
    private final Sql unlock;

    public AdvisoryLockSql(Names names) {
        this.tryLock = new Sql(names, TRY);
        this.mine = new Sql(names, MINE);
        this.theirs = new Sql(names, THEIRS);
        this.unlock = new Sql(names, UNLOCK);
    }

    /**
     * Gets the lock for this session.
     *
     * @return false if another session has it
     * @throws SQLException also if the server is a standby (25006)
     */
    public boolean tryLock(Connection session, long key) throws SQLException {
        return done(tryLock, session, key);
    }

    /**
     * Whether this session has it.
     *
     * @throws SQLException also if the server is a standby (25006)
     */
    public boolean held(Connection session, long key) throws SQLException {
        return done(mine, session, key);
    }

    /**
     * Whether the session of that server process has it, asked over any other.
     *
     * @throws SQLException also if the server is a standby (25006)
     */
    public boolean heldBy(Connection beside, long key, int backend) throws SQLException {
        return done(theirs, beside, key, backend);
    }

    /** False if this session did not have it. */
    public boolean unlock(Connection session, long key) throws SQLException {
        return done(unlock, session, key);
    }

    private static boolean done(Sql sql, Connection session, Object... values) throws SQLException {
        return sql.query(session, AdvisoryLockSql::answer, values).get(0);
    }

    private static boolean answer(ResultSet row) throws SQLException {
        boolean done = row.getBoolean("done");
        if (row.wasNull()) {
            throw new SQLException("this server is a standby: whoever led here would lead beside the primary", "25006");
        }
        return done;
    }
}
