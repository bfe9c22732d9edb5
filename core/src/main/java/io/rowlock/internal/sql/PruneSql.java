package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Deletes completed and cancelled jobs past their retention, with their failures. */
public final class PruneSql {
    /*
     * One process at a time: the others get no row. Locks: the rows to delete, FOR UPDATE, skipping what is locked; state
     * and age are checked again in the DELETE, or a job just revived would be lost. Index: a range of
     * rowlock_job_finished from a cursor, so that finished rows of foreign kinds are walked once a pass only; then the
     * primary key. Rows: at most $6 looked at. Without statistics the planner would sort all finished rows in each step
     * if it saw the limit, and walk their whole index for the DELETE if its conditions were indexable. What was written
     * once, or cancelled, is kept for $7 even where completed rows are deleted at once: by the one a duplicate is told, the
     * other says why nothing was done.
     */
    static final String PRUNE = """
            /* rowlock:prune */
            WITH mine AS MATERIALIZED (
              SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7243389017)) AS ok),
            seen AS MATERIALIZED (
              SELECT j.id, j.kind, j.finished_at
              FROM unnest(ARRAY[$8::text], ARRAY[$6::integer]) AS s(state, most)
              CROSS JOIN LATERAL (
                SELECT id, kind, finished_at
                FROM rowlock_job
                WHERE state = s.state AND finished_at IS NOT NULL
                  AND (finished_at, id) > (coalesce($4::timestamptz, '-infinity'), $5::bigint)
                  AND finished_at < statement_timestamp() - $3::bigint * interval '1 microsecond'
                ORDER BY finished_at, id
                LIMIT s.most) j
              WHERE (SELECT ok FROM mine)),
            old AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM seen WHERE kind = ANY($2::text[])))
              ORDER BY id
              FOR UPDATE SKIP LOCKED),
            gone AS (
              DELETE FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM old)) AND (state = $8::text) IS TRUE
                AND (finished_at < statement_timestamp() - CASE WHEN dedup_mode = 'once' OR state = 'cancelled' THEN $7::bigint ELSE $3::bigint END
                                                           * interval '1 microsecond') IS TRUE
              RETURNING id, attempts),
            failures AS (
              DELETE FROM rowlock_job_failure WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM gone
                CROSS JOIN LATERAL (
                  SELECT ctid FROM rowlock_job_failure WHERE job_id = gone.id FOR UPDATE SKIP LOCKED) f
                WHERE gone.attempts > 1)))
            SELECT (SELECT count(*) FROM gone) AS pruned, (SELECT count(*) FROM seen) AS seen,
                   last.finished_at AS last_at, last.id AS last_id
            FROM (SELECT finished_at, id FROM seen ORDER BY finished_at DESC, id DESC LIMIT 1) AS last
            """;

    private static final Duration LEAST_FOR_SOME = Duration.ofHours(24);

    private final Sql prune;
    private final String lockName;

    public PruneSql(Names names) {
        this.prune = new Sql(names, PRUNE);
        this.lockName = names.schema() + '.' + names.prefix();
    }

    /** Where to go on in a terminal state. */
    public record Cursor(String state, @Nullable Instant at, long id) {
        /** The beginning of the completed jobs. */
        public static final Cursor COMPLETED = new Cursor("completed", null, 0);
        /** The beginning of the cancelled jobs. */
        public static final Cursor CANCELLED = new Cursor("cancelled", null, 0);
    }

    /** What one step did. */
    public record Pruned(long rows, long seen, Cursor next) {}

    /** One step; empty when nothing old is left behind the cursor, or another process prunes. */
    public Optional<Pruned> prune(Connection connection, Set<String> kinds, Duration retention, Cursor from, int rows)
            throws SQLException {
        List<Pruned> steps = prune.query(
                connection,
                row -> new Pruned(
                        row.getLong("pruned"),
                        row.getLong("seen"),
                        new Cursor(from.state(), Sql.instant(row, "last_at"), row.getLong("last_id"))),
                lockName,
                Sql.texts(kinds),
                Sql.micros(retention),
                Sql.timestamp(from.at()),
                from.id(),
                rows,
                Sql.micros(retention.isZero() ? LEAST_FOR_SOME : retention),
                from.state());
        return steps.stream().findFirst();
    }
}
