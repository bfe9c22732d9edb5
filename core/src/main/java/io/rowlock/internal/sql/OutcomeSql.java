package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes what became of claimed jobs, in batches. Every statement names owner and token (promise P3), locks in id order
 * and skips what is locked by others; it gives the ids it wrote, and the caller asks {@link #stillHeld} about the rest.
 */
public final class OutcomeSql {
    /*
     * The rows of ids $1 whose owner is $3 and whose token is the one in $2 at the same place. READ COMMITTED: after a
     * lock the condition is looked at again, so a token raised meanwhile leaves the row out. Index: the primary key. The
     * pairs are hashed once (IS TRUE keeps the planner from making a join of them); to look for each row's place in the
     * array took as long as all the rest (measured: 2.4 of 5.6 us a row of 500, 5.0 of 8.0 of 1,000).
     */
    private static final String GRIPPED = """
            WHERE id = ANY($1::bigint[]) AND locked_by = $3
              AND ((id, token) IN (SELECT grip.id, grip.token FROM unnest($1::bigint[], $2::bigint[]) AS grip(id, token))) IS TRUE
            """;

    private static final String HELD = """
            WITH held AS MATERIALIZED (
              SELECT id, attempts
              FROM rowlock_job
            """ + GRIPPED + """
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED)
            """;

    static final String COMPLETE = "/* rowlock:complete */ " + HELD + """
            UPDATE rowlock_job
            SET state = 'completed', finished_at = clock_timestamp(), locked_by = NULL, locked_until = NULL
            WHERE id = ANY(ARRAY(SELECT id FROM held))
            RETURNING id
            """;

    /*
     * Deletes take the full lock at once, or two of them could deadlock over the upgrade. What was written once stays for
     * its retention, or its key would be free again.
     */
    static final String COMPLETE_AND_DELETE = "/* rowlock:complete-and-delete */ "
            + HELD.replace("FOR NO KEY UPDATE", "FOR UPDATE")
                    .replace("SELECT id, attempts", "SELECT id, token, dedup_mode")
            + """
            , gone AS (
              DELETE FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM held WHERE dedup_mode IS DISTINCT FROM 'once')) RETURNING id),
            stays AS (
              UPDATE rowlock_job
              SET state = 'completed', finished_at = clock_timestamp(), locked_by = NULL, locked_until = NULL
              WHERE id = ANY(ARRAY(SELECT id FROM held WHERE dedup_mode = 'once'))
              RETURNING id),
            failures AS (
              DELETE FROM rowlock_job_failure WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM held
                CROSS JOIN LATERAL (
                  SELECT ctid FROM rowlock_job_failure WHERE job_id = held.id FOR UPDATE SKIP LOCKED) f
                WHERE held.token > 1 AND held.dedup_mode IS DISTINCT FROM 'once')))
            SELECT id FROM gone UNION ALL SELECT id FROM stays
            """;

    static final String HEARTBEAT = "/* rowlock:heartbeat */ " + HELD + """
            UPDATE rowlock_job
            SET locked_until = clock_timestamp() + $4::bigint * interval '1 microsecond'
            WHERE id = ANY(ARRAY(SELECT id FROM held))
            RETURNING id
            """;

    /* After a timeout the next attempt must not start before the old lease would have ended: its thread may still run. */
    static final String RETRY = "/* rowlock:retry */ " + HELD + """
            , failed AS (
              INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)
              SELECT id, attempts, $3, ($6::text[])[array_position($1::bigint[], id)], ($7::text[])[array_position($1::bigint[], id)],
                     ($8::text[])[array_position($1::bigint[], id)]
              FROM held)
            UPDATE rowlock_job
            SET run_at = greatest(clock_timestamp() + ($4::bigint[])[array_position($1::bigint[], id)] * interval '1 microsecond',
                                  CASE WHEN ($5::boolean[])[array_position($1::bigint[], id)] THEN locked_until END),
                token = token + 1, locked_by = NULL, locked_until = NULL, last_error = ($7::text[])[array_position($1::bigint[], id)]
            WHERE id = ANY(ARRAY(SELECT id FROM held))
            RETURNING id
            """;

    static final String BURY = "/* rowlock:bury */ " + HELD + """
            , failed AS (
              INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)
              SELECT id, attempts, $3, ($4::text[])[array_position($1::bigint[], id)], ($5::text[])[array_position($1::bigint[], id)],
                     ($6::text[])[array_position($1::bigint[], id)]
              FROM held)
            UPDATE rowlock_job
            SET state = 'dead', finished_at = clock_timestamp(), token = token + 1, locked_by = NULL,
                locked_until = NULL, last_error = ($5::text[])[array_position($1::bigint[], id)]
            WHERE id = ANY(ARRAY(SELECT id FROM held))
            RETURNING id
            """;

    /*
     * Back without having used the attempt: a snooze, or a hand-back with no delay. With an ordering key it is parked, and
     * the settling of its key makes the head ready.
     */
    static final String PUT_BACK = "/* rowlock:put-back */ " + HELD + """
            UPDATE rowlock_job
            SET run_at = clock_timestamp() + ($4::bigint[])[array_position($1::bigint[], id)] * interval '1 microsecond',
                state = CASE WHEN ordering_key IS NULL THEN 'ready' ELSE 'parked' END, limited = false,
                attempts = attempts - 1, token = token + 1, locked_by = NULL, locked_until = NULL
            WHERE id = ANY(ARRAY(SELECT id FROM held))
            RETURNING id
            """;

    /*
     * No lock: what became of jobs whose handlers say that their own transactions ended the lease. Completed under the
     * token of the lease, or deleted; or put back under the next one.
     */
    static final String FATES = """
            /* rowlock:fates */
            SELECT id, token, state, locked_by
            FROM rowlock_job
            WHERE id = ANY($1::bigint[])
            """;

    /* No lock: tells what is merely locked by somebody from what is lost. */
    static final String STILL_HELD = "/* rowlock:still-held */ SELECT id FROM rowlock_job\n" + GRIPPED;

    private final Sql complete;
    private final Sql completeAndDelete;
    private final Sql heartbeat;
    private final Sql retry;
    private final Sql bury;
    private final Sql putBack;
    private final Sql fates;
    private final Sql stillHeld;

    public OutcomeSql(Names names) {
        this.complete = new Sql(names, COMPLETE);
        this.completeAndDelete = new Sql(names, COMPLETE_AND_DELETE);
        this.heartbeat = new Sql(names, HEARTBEAT);
        this.retry = new Sql(names, RETRY);
        this.bury = new Sql(names, BURY);
        this.putBack = new Sql(names, PUT_BACK);
        this.fates = new Sql(names, FATES);
        this.stillHeld = new Sql(names, STILL_HELD);
    }

    /** A lease: which job, under which token. */
    public record Grip(long id, long token) {}

    /** Why an attempt failed; texts cut and storable. */
    public record Failure(String errorClass, String message, String stack) {}

    /** A job to be tried again. */
    public record Retry(Grip grip, Duration delay, boolean notBeforeLease, Failure failure) {}

    /** A job that becomes a dead letter. */
    public record Burial(Grip grip, Failure failure) {}

    /** A job that goes back for later. */
    public record PutBack(Grip grip, Duration delay) {}

    public Set<Long> complete(Connection connection, String owner, List<Grip> grips, boolean delete)
            throws SQLException {
        return ids(delete ? completeAndDelete : complete, connection, grips, owner);
    }

    public Set<Long> heartbeat(Connection connection, String owner, List<Grip> grips, Duration lease)
            throws SQLException {
        return ids(heartbeat, connection, grips, owner, Sql.micros(lease));
    }

    public Set<Long> stillHeld(Connection connection, String owner, List<Grip> grips) throws SQLException {
        return ids(stillHeld, connection, grips, owner);
    }

    /** How a job's row stands. */
    public record Fate(
            long id, long token, String state, @Nullable String owner) {}

    /** How the rows stand that are still there. */
    public List<Fate> fates(Connection connection, List<Long> ids) throws SQLException {
        return fates.query(
                connection,
                row -> new Fate(
                        row.getLong("id"), row.getLong("token"), row.getString("state"), row.getString("locked_by")),
                Sql.bigints(ids));
    }

    public Set<Long> retry(Connection connection, String owner, List<Retry> retries) throws SQLException {
        return ids(
                retry,
                connection,
                Sql.column(retries, Retry::grip),
                owner,
                Sql.bigints(Sql.column(retries, each -> Sql.micros(each.delay()))),
                Sql.booleans(Sql.column(retries, Retry::notBeforeLease)),
                Sql.texts(Sql.column(retries, each -> each.failure().errorClass())),
                Sql.texts(Sql.column(retries, each -> each.failure().message())),
                Sql.texts(Sql.column(retries, each -> each.failure().stack())));
    }

    public Set<Long> bury(Connection connection, String owner, List<Burial> burials) throws SQLException {
        return ids(
                bury,
                connection,
                Sql.column(burials, Burial::grip),
                owner,
                Sql.texts(Sql.column(burials, each -> each.failure().errorClass())),
                Sql.texts(Sql.column(burials, each -> each.failure().message())),
                Sql.texts(Sql.column(burials, each -> each.failure().stack())));
    }

    public Set<Long> putBack(Connection connection, String owner, List<PutBack> jobs) throws SQLException {
        return ids(
                putBack,
                connection,
                Sql.column(jobs, PutBack::grip),
                owner,
                Sql.bigints(Sql.column(jobs, each -> Sql.micros(each.delay()))));
    }

    private static Set<Long> ids(
            Sql sql, Connection connection, List<Grip> grips, String owner, @Nullable Object... more)
            throws SQLException {
        List<@Nullable Object> params = new ArrayList<>();
        params.add(Sql.bigints(Sql.column(grips, Grip::id)));
        params.add(Sql.bigints(Sql.column(grips, Grip::token)));
        params.add(owner);
        params.addAll(Arrays.asList(more));
        return new HashSet<>(sql.query(connection, row -> row.getLong("id"), params.toArray()));
    }
}
