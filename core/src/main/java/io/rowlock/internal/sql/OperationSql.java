package io.rowlock.internal.sql;

import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What people do to single jobs. Unlike the engine's, these statements wait for locks: first the key's row, then the
 * job's, as everywhere. READ COMMITTED.
 */
public final class OperationSql {
    /* No lock; queue and key of a job never change while it is not finished. Index: the primary key. */
    static final String WHERE_IS = """
            /* rowlock:where-is-job */
            SELECT queue, ordering_key, locked_by IS NOT NULL AS leased
            FROM rowlock_job
            WHERE id = $1
            """;

    /* Without a row of its own a key has no parked job and no run, and there is nothing to lock. */
    static final String LOCK_KEY = """
            /* rowlock:lock-key */
            SELECT 1
            FROM rowlock_key
            WHERE queue = $1 AND ordering_key = $2
            FOR UPDATE
            """;

    /* Of a running job, whose handler may have the row locked for as long as it runs. */
    static final String TRY_LOCK_KEY =
            LOCK_KEY.replace("lock-key", "try-lock-key").replace("FOR UPDATE", "FOR UPDATE SKIP LOCKED");

    /* As TRY_LOCK_KEY, after it. Index: the primary key. */
    static final String TRY_LOCK = """
            /* rowlock:try-lock-job */
            SELECT 1
            FROM rowlock_job
            WHERE id = $1
            FOR NO KEY UPDATE SKIP LOCKED
            """;

    /* A running job loses its owner, and the token tells that one. Gives its old token, and for how long its lease would have held. */
    static final String CANCEL = """
            /* rowlock:cancel */
            WITH waiting AS MATERIALIZED (
              SELECT id, locked_by, locked_until, token
              FROM rowlock_job
              WHERE id = $1 AND state IN ('ready', 'parked')
              FOR NO KEY UPDATE)
            UPDATE rowlock_job
            SET state = 'cancelled', finished_at = clock_timestamp(), token = token + 1, locked_by = NULL,
                locked_until = NULL, waiting_key = NULL, last_error = $2
            WHERE id = ANY(ARRAY(SELECT id FROM waiting))
            RETURNING (SELECT locked_by FROM waiting) IS NOT NULL AS leased,
                      (SELECT token FROM waiting) AS old_token,
                      coalesce(ceil(extract(epoch FROM (SELECT locked_until FROM waiting) - clock_timestamp()) * 1000000), 0)::bigint
                        AS lease_micros
            """;

    /* As new, but for its id and its failures. With an ordering key its id still says where it comes. */
    static final String REVIVE = """
            /* rowlock:revive */
            UPDATE rowlock_job
            SET state = 'ready', finished_at = NULL, run_at = clock_timestamp(), attempts = 0, losses = 0, token = token + 1
            WHERE id = $1 AND state IN ('dead', 'cancelled')
            """;

    /* In the transaction of what was done. No lock but of its own row. Rows: one. */
    static final String RECORD = """
            /* rowlock:record-operation */
            INSERT INTO rowlock_operation (who, why, what, job_id) VALUES ($1, $2, $3, $4)
            """;

    private final Sql isolation;
    private final Sql whereIs;
    private final Sql lockKey;
    private final Sql tryLockKey;
    private final Sql tryLock;
    private final Sql cancel;
    private final Sql revive;
    private final Sql record;

    public OperationSql(Names names) {
        this.isolation = new Sql(names, OneJobSql.ISOLATION);
        this.whereIs = new Sql(names, WHERE_IS);
        this.lockKey = new Sql(names, LOCK_KEY);
        this.tryLockKey = new Sql(names, TRY_LOCK_KEY);
        this.tryLock = new Sql(names, TRY_LOCK);
        this.cancel = new Sql(names, CANCEL);
        this.revive = new Sql(names, REVIVE);
        this.record = new Sql(names, RECORD);
    }

    /** Where a job stands, and whether a worker has it. */
    public record Place(@Nullable OrderingKey key, boolean leased) {}

    /** What a cancelled job was: whether it ran, under which token, and for how long its lease would have held. */
    public record Cancelled(boolean leased, long token, Duration lease) {}

    /** The isolation of the transaction, in the server's words. */
    public String isolation(Connection connection) throws SQLException {
        return isolation.query(connection, row -> row.getString(1)).get(0);
    }

    public Optional<Place> whereIs(Connection connection, long id) throws SQLException {
        return whereIs
                .query(
                        connection,
                        row -> {
                            String key = row.getString("ordering_key");
                            return new Place(
                                    key == null ? null : new OrderingKey(row.getString("queue"), key),
                                    row.getBoolean("leased"));
                        },
                        id)
                .stream()
                .findFirst();
    }

    public void lockKey(Connection connection, OrderingKey key) throws SQLException {
        lockKey.query(connection, row -> true, key.queue(), key.text());
    }

    /** Whether the key's row is locked by this transaction now; a leased job's key has one. */
    public boolean tryLockKey(Connection connection, OrderingKey key) throws SQLException {
        return !tryLockKey
                .query(connection, row -> true, key.queue(), key.text())
                .isEmpty();
    }

    /** Whether the job's row is locked by this transaction now. */
    public boolean tryLock(Connection connection, long id) throws SQLException {
        return !tryLock.query(connection, row -> true, id).isEmpty();
    }

    /** Cancels the job if it is not finished. */
    public Optional<Cancelled> cancel(Connection connection, long id, String reason) throws SQLException {
        return cancel
                .query(
                        connection,
                        row -> new Cancelled(
                                row.getBoolean("leased"),
                                row.getLong("old_token"),
                                Sql.duration(Math.max(0, row.getLong("lease_micros")))),
                        id,
                        reason)
                .stream()
                .findFirst();
    }

    /** Makes the job ready again if it is dead or cancelled. */
    public boolean revive(Connection connection, long id) throws SQLException {
        return revive.update(connection, id) == 1;
    }

    /** Keeps who did what to a job, and why. */
    public void record(Connection connection, long id, String what, By by) throws SQLException {
        record.update(connection, by.who(), by.why(), what, id);
    }
}
