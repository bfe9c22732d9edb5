package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Deletes rows past their retention: finished jobs with their failures, alerts, failures, operations, leases, idempotency keys. */
public final class PruneSql {
    /* One process at a time, over all classes: the others get no row. Over with the transaction, so that another takes over at once. */
    private static final String MINE = """
            WITH mine AS MATERIALIZED (
              SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7243389017)) AS ok),
            """;

    /*
     * Locks: the rows to delete, FOR UPDATE, skipping what is locked; state
     * and age are checked again in the DELETE, or a job just revived would be lost. Index: a range of
     * rowlock_job_finished from a cursor, so that finished rows of foreign kinds are walked once a pass only; then the
     * primary key. Rows: at most $6 looked at. Without statistics the planner would sort all finished rows in each step
     * if it saw the limit, and walk their whole index for the DELETE if its conditions were indexable. What was written
     * once is kept for $7 even where completed rows are deleted at once: a duplicate is told its id. A dead head that blocks
     * its key is kept: its key's row says so from the commit of its death on, and never again once it does not. A job that
     * completed under its first token has no failures.
     */
    static final String PRUNE = "/* rowlock:prune */ " + MINE + """
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
                AND (finished_at < statement_timestamp() - CASE WHEN dedup_mode = 'once' THEN $7::bigint ELSE $3::bigint END
                                                           * interval '1 microsecond') IS TRUE
                AND NOT coalesce((
                  SELECT true
                  FROM rowlock_key k
                  WHERE k.queue = rowlock_job.queue AND k.ordering_key = rowlock_job.ordering_key AND k.blocked_by = rowlock_job.id
                  LIMIT 1), false)
              RETURNING id, state, token),
            failures AS (
              DELETE FROM rowlock_job_failure WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM gone
                CROSS JOIN LATERAL (
                  SELECT ctid FROM rowlock_job_failure WHERE job_id = gone.id FOR UPDATE SKIP LOCKED) f
                WHERE gone.token > 1 OR gone.state <> 'completed')))
            SELECT (SELECT count(*) FROM gone) AS pruned, (SELECT count(*) FROM seen) AS seen,
                   last.finished_at AS last_at, last.id AS last_id
            FROM (SELECT finished_at, id FROM seen ORDER BY finished_at DESC, id DESC LIMIT 1) AS last
            """;

    /*
     * Locks: as PRUNE. Index: a range of rowlock_alert_past, then the primary key. Rows: at most $3. One that is acknowledged
     * stays so.
     */
    static final String ALERTS = "/* rowlock:prune-alerts */ " + MINE + """
            seen AS MATERIALIZED (
              SELECT a.id
              FROM unnest(ARRAY[$3::integer]) AS s(most)
              CROSS JOIN LATERAL (
                SELECT id
                FROM rowlock_alert
                WHERE acknowledged_at < statement_timestamp() - $2::bigint * interval '1 microsecond'
                ORDER BY acknowledged_at, id
                LIMIT s.most) a
              WHERE (SELECT ok FROM mine)),
            old AS MATERIALIZED (
              SELECT id
              FROM rowlock_alert
              WHERE id = ANY(ARRAY(SELECT id FROM seen))
              ORDER BY id
              FOR UPDATE SKIP LOCKED),
            gone AS (
              DELETE FROM rowlock_alert WHERE id = ANY(ARRAY(SELECT id FROM old)) RETURNING id)
            SELECT (SELECT count(*) FROM gone) AS pruned, (SELECT count(*) FROM seen) AS seen, 0::bigint AS last_id
            """;

    /* Locks: the rows, skipping what is locked. Index: a range of rowlock_job_failure_at. Rows: at most $3. */
    static final String FAILURES = "/* rowlock:prune-failures */ " + MINE + """
            gone AS (
              DELETE FROM rowlock_job_failure WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM unnest(ARRAY[$3::integer]) AS s(most)
                CROSS JOIN LATERAL (
                  SELECT ctid
                  FROM rowlock_job_failure
                  WHERE at < statement_timestamp() - $2::bigint * interval '1 microsecond'
                  ORDER BY at
                  LIMIT s.most
                  FOR UPDATE SKIP LOCKED) f
                WHERE (SELECT ok FROM mine)))
              RETURNING 1)
            SELECT count(*) AS pruned, count(*) AS seen, 0::bigint AS last_id FROM gone
            """;

    /*
     * What was done to a saga stays as long as that, which may ask whether it was redacted. Locks: the rows, which nobody else
     * locks. Index: a range of the primary key, from a cursor, so that what stays is walked once a pass; ids rise with time, and
     * the walk ends at the first batch that ends with a young row. Rows: at most $3 looked at.
     */
    static final String OPERATIONS = "/* rowlock:prune-operations */ " + MINE + """
            seen AS MATERIALIZED (
              SELECT o.id, o.saga, o.at < statement_timestamp() - $2::bigint * interval '1 microsecond' AS old
              FROM unnest(ARRAY[$3::integer]) AS s(most)
              CROSS JOIN LATERAL (
                SELECT id, at, saga
                FROM rowlock_operation
                WHERE id > $4
                ORDER BY id
                LIMIT s.most) o
              WHERE (SELECT ok FROM mine)),
            gone AS (
              DELETE FROM rowlock_operation
              WHERE id = ANY(ARRAY(
                SELECT id
                FROM seen
                WHERE old AND NOT coalesce((SELECT true FROM rowlock_saga g WHERE g.id = seen.saga LIMIT 1), false)))
              RETURNING id)
            SELECT (SELECT count(*) FROM gone) AS pruned,
                   CASE WHEN (SELECT old FROM seen ORDER BY id DESC LIMIT 1) THEN (SELECT count(*) FROM seen) ELSE 0 END AS seen,
                   coalesce((SELECT max(id) FROM seen), 0) AS last_id
            """;

    /* Locks: the rows, skipping what is locked. Index: a range of rowlock_idempotency_key_expiry. Rows: at most $2. */
    static final String IDEMPOTENCY_KEYS = "/* rowlock:prune-idempotency-keys */ " + MINE + """
            gone AS (
              DELETE FROM rowlock_idempotency_key WHERE ctid = ANY(ARRAY(
                SELECT k.ctid
                FROM unnest(ARRAY[$2::integer]) AS s(most)
                CROSS JOIN LATERAL (
                  SELECT ctid
                  FROM rowlock_idempotency_key
                  WHERE expires_at < statement_timestamp()
                  ORDER BY expires_at
                  LIMIT s.most
                  FOR UPDATE SKIP LOCKED) k
                WHERE (SELECT ok FROM mine)))
              RETURNING 1)
            SELECT count(*) AS pruned, count(*) AS seen, 0::bigint AS last_id FROM gone
            """;

    /*
     * Who held which lease, from the oldest; with the last of a name its row, if it is free for that long. What is held for longer
     * stays, and is walked once a pass. Locks: the rows of the leases, FOR UPDATE, skipping what is locked (a fence, say); those of
     * the history, which nobody else locks then. Index: a range of rowlock_lease_history_past from a cursor, then the primary keys.
     * Rows: at most $3 looked at. The names go into an array, as a join would walk the whole table of leases.
     */
    static final String LEASES = "/* rowlock:prune-leases */ " + MINE + """
            seen AS MATERIALIZED (
              SELECT h.name, h.token, h.taken_at, h.ended_at
              FROM unnest(ARRAY[$3::integer]) AS s(most)
              CROSS JOIN LATERAL (
                SELECT name, token, taken_at, ended_at
                FROM rowlock_lease_history
                WHERE (taken_at, token) > (coalesce($4::timestamptz, '-infinity'), $5::bigint)
                  AND taken_at < statement_timestamp() - $2::bigint * interval '1 microsecond'
                ORDER BY taken_at, token
                LIMIT s.most) h
              WHERE (SELECT ok FROM mine)),
            free AS MATERIALIZED (
              SELECT name
              FROM rowlock_lease
              WHERE name = ANY(ARRAY(SELECT name FROM seen))
                AND expires_at < statement_timestamp() - $2::bigint * interval '1 microsecond'
              ORDER BY name
              FOR UPDATE SKIP LOCKED),
            gone AS (
              DELETE FROM rowlock_lease WHERE name = ANY(ARRAY(SELECT name FROM free)) RETURNING name, token),
            past AS (
              DELETE FROM rowlock_lease_history
              WHERE name = ANY(ARRAY(SELECT name FROM seen)) AND token = ANY(ARRAY(SELECT token FROM seen))
                AND (ended_at < statement_timestamp() - $2::bigint * interval '1 microsecond'
                     OR (ended_at IS NULL AND token = ANY(ARRAY(SELECT token FROM gone))))
              RETURNING 1)
            SELECT (SELECT count(*) FROM past) AS pruned, (SELECT count(*) FROM seen) AS seen,
                   last.taken_at AS last_at, last.token AS last_id
            FROM (SELECT taken_at, token FROM seen ORDER BY taken_at DESC, token DESC LIMIT 1) AS last
            """;

    private static final Duration LEAST_ONCE = Duration.ofHours(24);

    private final Sql prune;
    private final Sql alerts;
    private final Sql failures;
    private final Sql operations;
    private final Sql idempotencyKeys;
    private final Sql leases;
    private final String lockName;

    public PruneSql(Names names) {
        this.prune = new Sql(names, PRUNE);
        this.alerts = new Sql(names, ALERTS);
        this.failures = new Sql(names, FAILURES);
        this.operations = new Sql(names, OPERATIONS);
        this.idempotencyKeys = new Sql(names, IDEMPOTENCY_KEYS);
        this.leases = new Sql(names, LEASES);
        this.lockName = names.schema() + '.' + names.prefix();
    }

    /** A terminal state, how long its jobs are kept, and how long those that were written once. */
    public record Ended(String state, Duration time, Duration once) {
        public static Ended completed(Duration time) {
            return new Ended("completed", time, time.isZero() ? LEAST_ONCE : time);
        }

        public static Ended cancelled(Duration time) {
            return new Ended("cancelled", time, time);
        }

        public static Ended dead(Duration time) {
            return new Ended("dead", time, time);
        }
    }

    /** Where to go on. */
    public record Cursor(@Nullable Instant at, long id) {}

    /** What one step did. */
    public record Pruned(long rows, long seen, Cursor next) {}

    /** One step; empty when nothing old is left behind the cursor, or another process prunes. */
    public Optional<Pruned> jobs(Connection connection, Set<String> kinds, Ended ended, @Nullable Cursor from, int rows)
            throws SQLException {
        return prune
                .query(
                        connection,
                        PruneSql::prunedInTime,
                        lockName,
                        Sql.texts(kinds),
                        Sql.micros(ended.time()),
                        from == null ? null : Sql.timestamp(from.at()),
                        from == null ? 0L : from.id(),
                        rows,
                        Sql.micros(ended.once()),
                        ended.state())
                .stream()
                .findFirst();
    }

    /** One step; nothing seen when another process prunes. */
    public Optional<Pruned> alerts(Connection connection, Duration time, int rows) throws SQLException {
        return alerts.query(connection, PruneSql::pruned, lockName, Sql.micros(time), rows).stream()
                .findFirst();
    }

    /** One step; nothing seen when another process prunes. */
    public Optional<Pruned> failures(Connection connection, Duration time, int rows) throws SQLException {
        return failures.query(connection, PruneSql::pruned, lockName, Sql.micros(time), rows).stream()
                .findFirst();
    }

    /** One step; nothing seen when another process prunes. */
    public Optional<Pruned> operations(Connection connection, Duration time, @Nullable Cursor from, int rows)
            throws SQLException {
        return operations
                .query(connection, PruneSql::pruned, lockName, Sql.micros(time), rows, from == null ? 0L : from.id())
                .stream()
                .findFirst();
    }

    /** One step; nothing seen when another process prunes. */
    public Optional<Pruned> idempotencyKeys(Connection connection, int rows) throws SQLException {
        return idempotencyKeys.query(connection, PruneSql::pruned, lockName, rows).stream()
                .findFirst();
    }

    /** One step; empty when nothing old is left behind the cursor, or another process prunes. */
    public Optional<Pruned> leases(Connection connection, Duration time, @Nullable Cursor from, int rows)
            throws SQLException {
        return leases
                .query(
                        connection,
                        PruneSql::prunedInTime,
                        lockName,
                        Sql.micros(time),
                        rows,
                        from == null ? null : Sql.timestamp(from.at()),
                        from == null ? 0L : from.id())
                .stream()
                .findFirst();
    }

    private static Pruned prunedInTime(ResultSet row) throws SQLException {
        return new Pruned(
                row.getLong("pruned"),
                row.getLong("seen"),
                new Cursor(Sql.instant(row, "last_at"), row.getLong("last_id")));
    }

    private static Pruned pruned(ResultSet row) throws SQLException {
        return new Pruned(row.getLong("pruned"), row.getLong("seen"), new Cursor(null, row.getLong("last_id")));
    }
}
