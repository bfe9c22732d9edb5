package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** Advisory locks of a session: they live as long as it does, so a transaction-mode pooler makes nonsense of them. */
public final class AdvisoryLockSql {
    /* Locks: the advisory lock, until it is unlocked or the session ends. Waits for nobody. */
    private static final String TRY = "/* rowlock:try-leader-lock */ SELECT pg_try_advisory_lock($1::bigint) AS done";

    /* Whether this very session has the lock: a new connection has not. */
    private static final String MINE = """
            /* rowlock:have-leader-lock */
            SELECT EXISTS (
              SELECT 1
              FROM pg_locks
              WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND classid = (($1::bigint >> 32) & 4294967295)::oid AND objid = ($1::bigint & 4294967295)::oid) AS done
            """;

    private static final String UNLOCK = "/* rowlock:leader-unlock */ SELECT pg_advisory_unlock($1::bigint) AS done";

    private final Sql tryLock;
    private final Sql mine;
    private final Sql unlock;

    public AdvisoryLockSql(Names names) {
        this.tryLock = new Sql(names, TRY);
        this.mine = new Sql(names, MINE);
        this.unlock = new Sql(names, UNLOCK);
    }

    /** False if another session has it. */
    public boolean tryLock(Connection session, long key) throws SQLException {
        return done(tryLock, session, key);
    }

    /** Whether this session has it. */
    public boolean held(Connection session, long key) throws SQLException {
        return done(mine, session, key);
    }

    /** False if this session did not have it. */
    public boolean unlock(Connection session, long key) throws SQLException {
        return done(unlock, session, key);
    }

    private static boolean done(Sql sql, Connection session, long key) throws SQLException {
        return sql.query(session, row -> row.getBoolean("done"), key).get(0);
    }
}
