package io.rowlock.internal.sql;

import io.rowlock.job.By;
import io.rowlock.job.JobState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What people do to single jobs. Unlike the engine's, these statements wait for locks: first the key's row, then the
 * job's, as everywhere. READ COMMITTED.
 */
public final class OperationSql {
    /* No lock; only who has the key's row locked puts a job with a key into another queue. Index: the primary key. */
    static final String WHERE_IS = """
            /* rowlock:where-are-jobs */
            SELECT id, kind, queue, subject, ordering_key, state, locked_by IS NOT NULL AS leased,
                   (dedup_mode <> 'once') IS TRUE AS dedups
            FROM rowlock_job
            WHERE id = ANY($1::bigint[])
            ORDER BY id
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

    /* As TRY_LOCK, for many. Locks: FOR UPDATE, as a delete takes it at once. */
    static final String TRY_LOCK_ALL = """
            /* rowlock:try-lock-jobs */
            SELECT id
            FROM rowlock_job
            WHERE id = ANY($1::bigint[])
            ORDER BY id
            FOR UPDATE SKIP LOCKED
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
                locked_until = NULL, waiting_key = NULL, last_error = $2,
                run_at = CASE WHEN locked_by IS NULL OR ordering_key IS NOT NULL THEN least(run_at, clock_timestamp())
                              ELSE greatest(run_at, locked_until) END
            WHERE id = ANY(ARRAY(SELECT id FROM waiting))
            RETURNING (SELECT locked_by FROM waiting) IS NOT NULL AS leased,
                      (SELECT token FROM waiting) AS old_token,
                      coalesce(ceil(extract(epoch FROM (SELECT locked_until FROM waiting) - clock_timestamp()) * 1000000), 0)::bigint
                        AS lease_micros
            """;

    /*
     * As new, but for its id and its failures. With an ordering key its id still says where it comes. Where a handler was at
     * work when it was cancelled, it is due when that lease would have ended, as the handler may run on; CANCEL left that time.
     * With an ordering key its key is held for that handler instead, until it ends.
     */
    static final String REVIVE = """
            /* rowlock:revive */
            UPDATE rowlock_job
            SET state = 'ready', finished_at = NULL, attempts = 0, losses = 0, token = token + 1,
                run_at = greatest(clock_timestamp(), CASE WHEN state = 'cancelled' THEN least(run_at, finished_at + interval '1 hour') END)
            WHERE id = $1 AND (state IN ('dead', 'cancelled')) IS TRUE AND redacted_at IS NULL
            """;

    /* With its failures. Locks: the job, FOR UPDATE. Indexes: the primary key, rowlock_job_failure_job. Rows: one. */
    static final String DELETE = """
            /* rowlock:delete-job */
            WITH gone AS (
              DELETE FROM rowlock_job WHERE id = $1 AND (finished_at IS NOT NULL) IS TRUE RETURNING id),
            failures AS (
              DELETE FROM rowlock_job_failure WHERE job_id = $1 AND EXISTS (SELECT 1 FROM gone))
            SELECT id FROM gone
            """;

    /* A worker's look at its lanes begins where it has looked before, so no time in the past. Index: the primary key. Rows: one. */
    static final String RESCHEDULE = """
            /* rowlock:reschedule */
            UPDATE rowlock_job
            SET run_at = greatest($2::timestamptz, clock_timestamp())
            WHERE id = $1 AND finished_at IS NULL AND locked_by IS NULL
            """;

    /*
     * The key's row in the queue that is left is locked, if the job has a key. In the other queue the job stands as if it had
     * just been written: ready, at its id's place in the order; a claim parks it where it must wait. Index: the primary key.
     * Rows: one.
     */
    static final String MOVE = """
            /* rowlock:move */
            UPDATE rowlock_job
            SET queue = $2, state = 'ready', limited = false, run_at = greatest(run_at, clock_timestamp())
            WHERE id = $1 AND finished_at IS NULL AND locked_by IS NULL AND queue <> $2
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
    private final Sql tryLockAll;
    private final Sql delete;
    private final Sql reschedule;
    private final Sql move;

    public OperationSql(Names names) {
        this.isolation = new Sql(names, OneJobSql.ISOLATION);
        this.whereIs = new Sql(names, WHERE_IS);
        this.lockKey = new Sql(names, LOCK_KEY);
        this.tryLockKey = new Sql(names, TRY_LOCK_KEY);
        this.tryLock = new Sql(names, TRY_LOCK);
        this.cancel = new Sql(names, CANCEL);
        this.revive = new Sql(names, REVIVE);
        this.record = new Sql(names, RECORD);
        this.tryLockAll = new Sql(names, TRY_LOCK_ALL);
        this.delete = new Sql(names, DELETE);
        this.reschedule = new Sql(names, RESCHEDULE);
        this.move = new Sql(names, MOVE);
    }

    /** Where a job stands, what it is about, whether a worker has it, and whether it waits under a dedup key when it waits. */
    public record Place(
            long id,
            String kind,
            String queue,
            @Nullable String subject,
            @Nullable OrderingKey key,
            JobState state,
            boolean leased,
            boolean dedups) {}

    /** What a cancelled job was: whether it ran, under which token, and for how long its lease would have held. */
    public record Cancelled(boolean leased, long token, Duration lease) {}

    /** The isolation of the transaction, in the server's words. */
    public String isolation(Connection connection) throws SQLException {
        return isolation.query(connection, row -> row.getString(1)).get(0);
    }

    public Optional<Place> whereIs(Connection connection, long id) throws SQLException {
        return whereAre(connection, List.of(id)).stream().findFirst();
    }

    /** Those of the jobs that there are, in the order of their ids. */
    public List<Place> whereAre(Connection connection, Collection<Long> ids) throws SQLException {
        return whereIs.query(
                connection,
                row -> {
                    String key = row.getString("ordering_key");
                    return new Place(
                            row.getLong("id"),
                            row.getString("kind"),
                            row.getString("queue"),
                            row.getString("subject"),
                            key == null ? null : new OrderingKey(row.getString("queue"), key),
                            JobState.of(row.getString("state")),
                            row.getBoolean("leased"),
                            row.getBoolean("dedups"));
                },
                Sql.bigints(ids));
    }

    /** Whether there was a row to lock; it is waited for. */
    public boolean lockKey(Connection connection, OrderingKey key) throws SQLException {
        return !lockKey.query(connection, row -> true, key.queue(), key.text()).isEmpty();
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

    /** Those of the jobs whose rows are locked by this transaction now. */
    public Set<Long> tryLock(Connection connection, Collection<Long> ids) throws SQLException {
        return new HashSet<>(tryLockAll.query(connection, row -> row.getLong("id"), Sql.bigints(ids)));
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

    /** Deletes the job, with its failures, if it is finished. */
    public boolean delete(Connection connection, long id) throws SQLException {
        return !delete.query(connection, row -> true, id).isEmpty();
    }

    /** Gives the job another time, not in the past, if it waits. */
    public boolean reschedule(Connection connection, long id, Instant at) throws SQLException {
        return reschedule.update(connection, id, Sql.timestamp(at)) == 1;
    }

    /** Puts the job into another queue if it waits. */
    public boolean move(Connection connection, long id, String queue) throws SQLException {
        return move.update(connection, id, queue) == 1;
    }

    /** Keeps who did what to a job, and why. */
    public void record(Connection connection, long id, String what, By by) throws SQLException {
        record.update(connection, by.who(), by.why(), what, id);
    }
}
