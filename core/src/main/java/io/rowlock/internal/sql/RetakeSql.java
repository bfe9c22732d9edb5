package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Gives jobs that were put back their waiting keys again, or merges them into those that wait under the keys. */
public final class RetakeSql {
    /*
     * No lock. Index: the primary key, then rowlock_job_waiting. Rows: at most as many as ids. Tells where a key is taken,
     * so that trying, which the server would log as an error, is left to races.
     */
    static final String KEYLESS = """
            /* rowlock:keyless */
            SELECT j.id, j.token, j.kind, j.dedup_key, j.queue, j.ordering_key,
                   w.id AS holder, w.queue AS holder_queue, w.ordering_key AS holder_order
            FROM rowlock_job j
            LEFT JOIN LATERAL (
              SELECT id, queue, ordering_key
              FROM rowlock_job
              WHERE kind = j.kind AND waiting_key = j.dedup_key
              LIMIT 1) w ON true
            WHERE j.id = ANY($1::bigint[]) AND j.dedup_mode <> 'once' AND j.waiting_key IS NULL AND j.locked_by IS NULL
              AND j.state IN ('ready', 'parked')
            ORDER BY j.id
            """;

    /* Whoever has claimed, ended or put back the row meanwhile has raised its token, or put an owner or a state there. */
    private static final String STILL = """
            SELECT id
            FROM rowlock_job
            WHERE id = ANY($1::bigint[]) AND token = ($2::bigint[])[array_position($1::bigint[], id)]
              AND waiting_key IS NULL AND locked_by IS NULL AND state IN ('ready', 'parked')
            """;

    /*
     * Locks: the rows, skipping what is locked, and their entries in rowlock_job_waiting: waits for open transactions that
     * have written the same, no longer than lock_timeout; 23505 where another job waits under the key. Indexes: the
     * primary key.
     */
    static final String RETAKE = """
            /* rowlock:retake-key */
            WITH mine AS MATERIALIZED (
            """ + STILL + """
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE rowlock_job
            SET waiting_key = dedup_key
            WHERE id = ANY(ARRAY(SELECT id FROM mine))
            RETURNING id
            """;

    /*
     * One of two, $6, is cancelled: the job put back, or $5, which waits under its key. Locks: both, skipping what is
     * locked: a duplicate's transaction that is still open holds the waiting one. Indexes: the primary key,
     * rowlock_job_waiting. Rows: one. The key's row of a job with an ordering key is locked by this transaction.
     */
    static final String MERGE = """
            /* rowlock:merge */
            WITH waiting AS MATERIALIZED (
              SELECT id FROM rowlock_job WHERE kind = $3 AND waiting_key = $4 AND (id = $5) IS TRUE FOR NO KEY UPDATE SKIP LOCKED),
            mine AS MATERIALIZED (
            """ + STILL + """
              FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE rowlock_job
            SET state = 'cancelled', finished_at = clock_timestamp(), token = token + 1, waiting_key = NULL,
                last_error = 'duplicate of ' || $7::bigint
            WHERE id = $6 AND EXISTS (SELECT 1 FROM waiting) AND EXISTS (SELECT 1 FROM mine)
            RETURNING id
            """;

    /*
     * After MERGE, as a statement of its own: the key must be free in the index. The one that stays, $1, has the content
     * that was written last, and is due no earlier than what it takes content from, or what has answered duplicates ($3).
     * The other one, $2, keeps no time to come, so that it is due at once if it is revived.
     * Locks: none that this transaction has not, but the key's entry, as RETAKE. Index: the primary key, twice. Rows: one.
     */
    static final String TAKE_OVER = """
            /* rowlock:take-over */
            WITH gone AS (
              UPDATE rowlock_job SET run_at = least(run_at, clock_timestamp()) WHERE id = $2)
            UPDATE rowlock_job s
            SET waiting_key = s.dedup_key,
                payload = CASE WHEN g.created_at > s.created_at THEN g.payload ELSE s.payload END,
                headers = CASE WHEN g.created_at > s.created_at THEN g.headers ELSE s.headers END,
                subject = CASE WHEN g.created_at > s.created_at THEN g.subject ELSE s.subject END,
                created_at = greatest(s.created_at, g.created_at),
                run_at = CASE WHEN $3 OR g.created_at > s.created_at THEN greatest(s.run_at, g.run_at) ELSE s.run_at END
            FROM rowlock_job g
            WHERE s.id = $1 AND g.id = $2
            """;

    private final Sql keyless;
    private final Sql retake;
    private final Sql merge;
    private final Sql takeOver;

    public RetakeSql(Names names) {
        this.keyless = new Sql(names, KEYLESS);
        this.retake = new Sql(names, RETAKE);
        this.merge = new Sql(names, MERGE);
        this.takeOver = new Sql(names, TAKE_OVER);
    }

    /** A job that waits without its key, its ordering key if it has one, and the job that waits under the key. */
    public record Keyless(
            long id,
            long token,
            String queue,
            String kind,
            String key,
            @Nullable OrderingKey order,
            @Nullable Holder holder) {
        public boolean taken() {
            return holder != null;
        }

        /** Whether the two wait under one key and stay two, as each has another place in an order. */
        public boolean isApart() {
            return order != null && holder != null && holder.order() != null && !order.equals(holder.order());
        }
    }

    /** The job that waits under a key. */
    public record Holder(long id, @Nullable OrderingKey order) {}

    /** A job that was cancelled in favour of another. */
    public record Merged(long id, long into) {}

    /** Those of the jobs that wait without their keys. */
    public List<Keyless> keyless(Connection connection, Collection<Long> ids) throws SQLException {
        return keyless.query(connection, RetakeSql::keyless, Sql.bigints(ids));
    }

    private static Keyless keyless(ResultSet row) throws SQLException {
        Long holder = row.getObject("holder", Long.class);
        return new Keyless(
                row.getLong("id"),
                row.getLong("token"),
                row.getString("queue"),
                row.getString("kind"),
                row.getString("dedup_key"),
                order(row.getString("queue"), row.getString("ordering_key")),
                holder == null
                        ? null
                        : new Holder(holder, order(row.getString("holder_queue"), row.getString("holder_order"))));
    }

    private static @Nullable OrderingKey order(String queue, @Nullable String key) {
        return key == null ? null : new OrderingKey(queue, key);
    }

    /** Takes the keys, in a transaction, waiting for others no longer than told; gives the jobs that have theirs. */
    public Set<Long> retake(Connection connection, List<Keyless> jobs, Duration wait) throws SQLException {
        SessionSql.boundLockWaits(connection, wait);
        return retake(connection, jobs);
    }

    /** The same, waiting as long as the session lets it. */
    public Set<Long> retake(Connection connection, List<Keyless> jobs) throws SQLException {
        return new HashSet<>(retake.query(
                connection,
                row -> row.getLong("id"),
                Sql.bigints(Sql.column(jobs, Keyless::id)),
                Sql.bigints(Sql.column(jobs, Keyless::token))));
    }

    /**
     * Makes one of the job and the one that waits under its key; in a transaction, under the lock of the job's ordering key
     * if it has one, which must be settled afterwards. The one put back is cancelled, unless it would lose its place in the
     * order; the other one then is. What stays has the newer content. Two with different ordering keys stay two.
     */
    public Optional<Merged> merge(Connection connection, Keyless job) throws SQLException {
        Holder holder = job.holder();
        if (holder == null || job.isApart()) {
            return Optional.empty();
        }
        boolean staysInPlace = job.order() != null && (holder.order() == null || job.id() < holder.id());
        long cancelled = staysInPlace ? holder.id() : job.id();
        long stays = staysInPlace ? job.id() : holder.id();
        List<Long> done = merge.query(
                connection,
                row -> row.getLong("id"),
                Sql.bigints(List.of(job.id())),
                Sql.bigints(List.of(job.token())),
                job.kind(),
                job.key(),
                holder.id(),
                cancelled,
                stays);
        if (done.isEmpty()) {
            return Optional.empty();
        }
        takeOver.update(connection, stays, cancelled, staysInPlace);
        return Optional.of(new Merged(cancelled, stays));
    }
}
