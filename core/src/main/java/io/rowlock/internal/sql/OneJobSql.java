package io.rowlock.internal.sql;

import io.rowlock.internal.sql.OutcomeSql.Grip;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Locks, completes or puts back one claimed job inside a handler's own transaction. Index: the primary key. */
public final class OneJobSql {
    /*
     * Which server numbers the transactions. After a crash or a failover an id that was not yet on disk, or not yet on the
     * standby, is given again to another transaction: the postmaster's start tells servers and their restarts apart, and
     * the statistics, which a crash resets, a recovery under the same postmaster. Somebody who resets them himself makes
     * it look like another server, which then knows nothing of the transaction.
     */
    private static final String SERVER = "concat_ws('/', extract(epoch FROM pg_postmaster_start_time()),"
            + " extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()))";

    /*
     * Under owner, token and live lease. Skips a lock held by others instead of waiting for it: a heartbeat is over in
     * no time, and whoever holds on to the row must not block a handler's thread.
     */
    static final String LOCK = "/* rowlock:lock-one */ SELECT pg_current_xact_id()::text, " + SERVER + " " + """
            FROM rowlock_job
            WHERE id = $1 AND token = $2 AND locked_by = $3 AND locked_until > clock_timestamp()
            FOR NO KEY UPDATE SKIP LOCKED
            """;

    /* No lock: tells what is merely locked by somebody, or over but not taken, from what is lost. */
    static final String HELD = """
            /* rowlock:held-one */
            SELECT id
            FROM rowlock_job
            WHERE id = $1 AND token = $2 AND locked_by = $3
            """;

    /*
     * $4: the transaction that locked the row before, or null. In that one nobody could take the job and the lease need
     * not be live; in any other the row must not be written, for what the handler did is committed or lost already. Both
     * this and the isolation are asked for in the statement itself, so that a wrong one is an answer and no error; a row
     * that somebody has locked is skipped, as in LOCK. Nor is the row written where its cancel was asked for.
     */
    private static final String HELD_HERE = """
            SELECT id, dedup_mode
            FROM rowlock_job
            WHERE id = $1 AND token = $2 AND locked_by = $3
              AND CASE WHEN $4::text IS NULL THEN locked_until > clock_timestamp()
                       ELSE pg_current_xact_id()::text = $4::text END
              AND current_setting('transaction_isolation') = 'read committed'
              AND NOT EXISTS (SELECT 1 FROM rowlock_cancel_request r WHERE r.job_id = $1 OFFSET 0)
            """;

    private static final String IF_HELD =
            "WHERE id = ANY(ARRAY(SELECT id FROM (" + HELD_HERE + " FOR NO KEY UPDATE SKIP LOCKED) AS held))";

    static final String COMPLETE = "/* rowlock:complete-one */ UPDATE rowlock_job SET state = 'completed',"
            + " finished_at = clock_timestamp(), locked_by = NULL, locked_until = NULL "
            + IF_HELD;

    /* What was written once stays for its retention, or its key would be free again. */
    static final String DELETE = "/* rowlock:delete-one */ WITH held AS MATERIALIZED (" + HELD_HERE + """
              FOR UPDATE SKIP LOCKED),
            gone AS (
              DELETE FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM held WHERE dedup_mode IS DISTINCT FROM 'once'))
              RETURNING id),
            stays AS (
              UPDATE rowlock_job
              SET state = 'completed', finished_at = clock_timestamp(), locked_by = NULL, locked_until = NULL
              WHERE id = ANY(ARRAY(SELECT id FROM held WHERE dedup_mode = 'once'))
              RETURNING id),
            failures AS (
              DELETE FROM rowlock_job_failure WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM gone
                CROSS JOIN LATERAL (
                  SELECT ctid FROM rowlock_job_failure WHERE job_id = gone.id FOR UPDATE SKIP LOCKED) f)))
            SELECT id FROM gone UNION ALL SELECT id FROM stays
            """;

    static final String PUT_BACK = "/* rowlock:put-back-one */ UPDATE rowlock_job"
            + " SET run_at = clock_timestamp() + $5 * interval '1 microsecond', attempts = attempts - 1,"
            + " state = CASE WHEN ordering_key IS NULL THEN 'ready' ELSE 'parked' END, limited = false,"
            + " token = token + 1, locked_by = NULL, locked_until = NULL "
            + IF_HELD;

    static final String CANCEL_REQUESTED =
            "/* rowlock:cancel-requested */ SELECT 1 FROM rowlock_cancel_request WHERE job_id = $1";

    static final String ISOLATION = "/* rowlock:isolation */ SELECT current_setting('transaction_isolation')";

    static final String TRANSACTION = "/* rowlock:transaction */ SELECT pg_current_xact_id()::text";

    /* No row is read: the state of a transaction that has ended, by its id. Another server does not know it: not committed. */
    static final String COMMITTED = "/* rowlock:committed */ SELECT CASE WHEN " + SERVER + " = $2"
            + " THEN pg_xact_status($1::text::xid8) IS NOT DISTINCT FROM 'committed' ELSE false END";

    private final Sql lock;
    private final Sql held;
    private final Sql complete;
    private final Sql delete;
    private final Sql putBack;
    private final Sql cancelRequested;
    private final Sql isolation;
    private final Sql transaction;
    private final Sql committed;

    public OneJobSql(Names names) {
        this.lock = new Sql(names, LOCK);
        this.held = new Sql(names, HELD);
        this.complete = new Sql(names, COMPLETE);
        this.delete = new Sql(names, DELETE);
        this.putBack = new Sql(names, PUT_BACK);
        this.cancelRequested = new Sql(names, CANCEL_REQUESTED);
        this.isolation = new Sql(names, ISOLATION);
        this.transaction = new Sql(names, TRANSACTION);
        this.committed = new Sql(names, COMMITTED);
    }

    /** Whether a cancel of the job was asked for, as its row was locked. */
    public boolean cancelRequested(Connection connection, long id) throws SQLException {
        return !cancelRequested.query(connection, row -> true, id).isEmpty();
    }

    /** The transaction that holds a lock: its id, and the server that gave it. */
    public record Holder(String transaction, String server) {}

    /** Locks the row; gives the transaction that holds the lock now, or null if it was not to be had. */
    public @Nullable Holder lock(Connection connection, String owner, Grip grip) throws SQLException {
        List<Holder> locked = lock.query(
                connection, row -> new Holder(row.getString(1), row.getString(2)), grip.id(), grip.token(), owner);
        return locked.isEmpty() ? null : locked.get(0);
    }

    public boolean held(Connection connection, String owner, Grip grip) throws SQLException {
        return !held.query(connection, row -> true, grip.id(), grip.token(), owner)
                .isEmpty();
    }

    /** Completes the job, or deletes it unless it was written once; true if it was held, and this is the transaction that locked it, if one did. */
    public boolean complete(Connection connection, String owner, Grip grip, @Nullable String locked, boolean deleteIt)
            throws SQLException {
        return deleteIt
                ? !delete.query(connection, row -> true, grip.id(), grip.token(), owner, locked)
                        .isEmpty()
                : complete.update(connection, grip.id(), grip.token(), owner, locked) == 1;
    }

    public boolean putBack(Connection connection, String owner, Grip grip, @Nullable String locked, Duration delay)
            throws SQLException {
        return putBack.update(connection, grip.id(), grip.token(), owner, locked, Sql.micros(delay)) == 1;
    }

    public String isolation(Connection connection) throws SQLException {
        return isolation.query(connection, row -> row.getString(1)).get(0);
    }

    /** The id of the transaction that is open on this connection. */
    public String transaction(Connection connection) throws SQLException {
        return transaction.query(connection, row -> row.getString(1)).get(0);
    }

    /** Whether the transaction has been committed; false also if its server has crashed, or is another, since. */
    public boolean committed(Connection connection, Holder holder) throws SQLException {
        return committed
                .query(connection, row -> row.getBoolean(1), holder.transaction(), holder.server())
                .get(0);
    }
}
