package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Gives jobs that were put back their waiting keys again, or merges them into those that wait under the keys. */
public final class RetakeSql {
    /*
     * No lock. Index: the primary key, then rowlock_job_waiting. Rows: at most as many as ids. Tells where a key is taken,
     * so that trying, which the server would log as an error, is left to races.
     */
    static final String KEYLESS = """
            /* rowlock:keyless */
            SELECT j.id, j.token, j.kind, j.dedup_key,
                   (SELECT w.id FROM rowlock_job w WHERE w.kind = j.kind AND w.waiting_key = j.dedup_key) IS NOT NULL AS taken
            FROM rowlock_job j
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
     * Locks: the job and, shared, the one that waits under its key, so that this one cannot go without a trace; skips what
     * is locked. Indexes: the primary key, rowlock_job_waiting. Rows: one. A job with an ordering key goes on without its
     * dedup key: its end would have to promote its followers.
     */
    static final String MERGE = """
            /* rowlock:merge */
            WITH waiting AS MATERIALIZED (
              SELECT id FROM rowlock_job WHERE kind = $3 AND waiting_key = $4 FOR SHARE SKIP LOCKED),
            mine AS MATERIALIZED (
            """ + STILL + """
              AND ordering_key IS NULL
              FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE rowlock_job
            SET state = 'cancelled', finished_at = clock_timestamp(), token = token + 1,
                last_error = 'duplicate of ' || (SELECT id FROM waiting)
            WHERE id = ANY(ARRAY(SELECT id FROM mine)) AND EXISTS (SELECT 1 FROM waiting)
            RETURNING (SELECT id FROM waiting) AS into_id
            """;

    private final Sql keyless;
    private final Sql retake;
    private final Sql merge;

    public RetakeSql(Names names) {
        this.keyless = new Sql(names, KEYLESS);
        this.retake = new Sql(names, RETAKE);
        this.merge = new Sql(names, MERGE);
    }

    /** A job that waits without its key, and whether another waits under it. */
    public record Keyless(long id, long token, String kind, String key, boolean taken) {}

    /** Those of the jobs that wait without their keys. */
    public List<Keyless> keyless(Connection connection, Collection<Long> ids) throws SQLException {
        return keyless.query(
                connection,
                row -> new Keyless(
                        row.getLong("id"),
                        row.getLong("token"),
                        row.getString("kind"),
                        row.getString("dedup_key"),
                        row.getBoolean("taken")),
                Sql.bigints(ids));
    }

    /** Takes the keys, in a transaction, waiting for others no longer than told; gives the jobs that have theirs. */
    public Set<Long> retake(Connection connection, List<Keyless> jobs, Duration wait) throws SQLException {
        SessionSql.boundLockWaits(connection, wait);
        return new HashSet<>(retake.query(
                connection,
                row -> row.getLong("id"),
                Sql.bigints(Sql.column(jobs, Keyless::id)),
                Sql.bigints(Sql.column(jobs, Keyless::token))));
    }

    /** Cancels the job in favour of the one that waits under its key; gives that one. */
    public Optional<Long> merge(Connection connection, Keyless job) throws SQLException {
        return merge
                .query(
                        connection,
                        row -> row.getLong("into_id"),
                        Sql.bigints(List.of(job.id())),
                        Sql.bigints(List.of(job.token())),
                        job.kind(),
                        job.key())
                .stream()
                .findFirst();
    }
}
