package io.rowlock.internal.sql;

import io.rowlock.job.BlockedKey;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which jobs wait, by queue and kind: for people and checkups. No locks. */
public final class WaitingSql {
    /* How many rows of a lane are looked at to find one that nobody works on: leased ones stand in front. */
    private static final int MOST_LEASED = 1_000;

    /*
     * One index, from one (queue, kind) to the next (a loose scan), at most $1 of them; then for each the first row by run_at
     * of each priority that is not leased, behind at most MOST_LEASED that are. The planner's trap: a row comparison alone
     * would be enough for it to go on in the index, ORDER BY and LIMIT make it do so.
     */
    private static String lanes(String walk, String where) {
        return """
            %1$s AS (
              (SELECT queue, kind, 1 AS n FROM rowlock_job WHERE %2$s ORDER BY queue, kind LIMIT 1)
              UNION ALL
              SELECT next.queue, next.kind, %1$s.n + 1
              FROM %1$s CROSS JOIN LATERAL (
                SELECT queue, kind FROM rowlock_job
                WHERE %2$s AND (queue, kind) > (%1$s.queue, %1$s.kind)
                ORDER BY queue, kind LIMIT 1) next
              WHERE %1$s.n < $1)
            """.formatted(walk, where);
    }

    private static String first(String walk, String where) {
        return """
            SELECT %1$s.queue, %1$s.kind, free.run_at
            FROM %1$s CROSS JOIN (VALUES (0), (1), (2)) AS p(priority)
            LEFT JOIN LATERAL (
              SELECT run_at FROM (
                SELECT run_at, locked_by FROM rowlock_job
                WHERE %2$s AND queue = %1$s.queue AND kind = %1$s.kind AND priority = p.priority
                ORDER BY run_at LIMIT %3$d) AS front
              WHERE locked_by IS NULL ORDER BY run_at LIMIT 1) free ON true
            """.formatted(walk, where, MOST_LEASED);
    }

    private static final String FREE = "state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses = 0";
    private static final String SUSPECT =
            "state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses > 0";
    private static final String KEYED = "state = 'ready' AND (ordering_key IS NOT NULL OR limit_key IS NOT NULL)";

    /* Indexes: rowlock_job_due, rowlock_job_suspect, rowlock_job_keyed. Rows: at most 3 * $1. */
    static final String LANES = "/* rowlock:waiting-lanes */ WITH RECURSIVE " + lanes("due", FREE) + ", "
            + lanes("suspect", SUSPECT) + ", " + lanes("keyed", KEYED)
            + " SELECT queue, kind, min(run_at) AS earliest, coalesce(min(run_at) <= statement_timestamp()"
            + " - $2::bigint * interval '1 microsecond', false) AS late FROM ("
            + first("due", FREE) + " UNION ALL " + first("suspect", SUSPECT) + " UNION ALL " + first("keyed", KEYED)
            + ") AS lane GROUP BY queue, kind ORDER BY queue, kind";

    /*
     * Why a queue is paused stands in the table of operations, which has no index by queue: of it at most the last 10,000 rows
     * are read, by the primary key. Jobs are counted up to $1 for each queue, from the indexes: rowlock_job_due, _suspect,
     * _keyed and _aside. The planner's trap: without an order it takes LIMIT for a reason to walk the table. Rows: at most 1,000.
     */
    static final String PAUSED = """
            /* rowlock:paused-queues */
            WITH told AS MATERIALIZED (
              SELECT DISTINCT ON (queue) queue, why
              FROM (SELECT id, queue, what, why FROM rowlock_operation ORDER BY id DESC LIMIT 10000) AS last
              WHERE what = 'pause' AND queue IS NOT NULL
              ORDER BY queue, id DESC)
            SELECT q.queue, q.paused_at, q.paused_by, told.why, jobs.n
            FROM (SELECT queue, paused_at, paused_by FROM rowlock_queue WHERE paused_at IS NOT NULL ORDER BY queue LIMIT 1000) AS q
            LEFT JOIN told ON told.queue = q.queue
            CROSS JOIN LATERAL (SELECT count(*) AS n FROM (
              (SELECT FROM rowlock_job WHERE %s AND queue = q.queue ORDER BY kind LIMIT $1::int)
              UNION ALL (SELECT FROM rowlock_job WHERE %s AND queue = q.queue ORDER BY kind LIMIT $1::int)
              UNION ALL (SELECT FROM rowlock_job WHERE %s AND queue = q.queue ORDER BY kind LIMIT $1::int)
              UNION ALL (SELECT FROM rowlock_job WHERE state IN ('parked', 'dead', 'cancelled') AND state = 'parked'
                         AND queue = q.queue ORDER BY kind LIMIT $1::int)
              LIMIT $1::int) AS waiting) AS jobs
            ORDER BY q.queue
            """.formatted(FREE, SUSPECT, KEYED);

    private static String blockedKeys(String name, String where) {
        return "/* rowlock:" + name + " */ " + """
            SELECT k.queue, k.ordering_key, k.blocked_by, dead.kind, dead.finished_at, coalesce(dead.redacted, false) AS redacted,
                   waiting.n
            FROM (SELECT queue, ordering_key, blocked_by
                  FROM rowlock_key
                  WHERE blocked_by IS NOT NULL AND %s
                  ORDER BY queue, ordering_key
                  LIMIT $3) AS k
            LEFT JOIN LATERAL (
              SELECT kind, finished_at, redacted_at IS NOT NULL AS redacted FROM rowlock_job WHERE id = k.blocked_by OFFSET 0) AS dead ON true
            CROSS JOIN LATERAL (
              SELECT count(*) AS n
              FROM (SELECT FROM rowlock_job
                    WHERE queue = k.queue AND ordering_key = k.ordering_key AND state IN ('ready', 'parked')
                    LIMIT 1000) AS behind) AS waiting
            ORDER BY k.queue, k.ordering_key
            """.formatted(where);
    }

    /*
     * Behind a queue and a key. Locks: none. Indexes: rowlock_key_blocked, in its order; for each key the primary key of jobs and
     * rowlock_job_order, 1,000 rows at most. Rows: at most $3.
     */
    static final String BLOCKED = blockedKeys("blocked-keys", "(queue, ordering_key) > ($1::text, $2::text)");

    /* The same in one queue. */
    static final String BLOCKED_OF_QUEUE =
            blockedKeys("blocked-keys-of-queue", "queue = $1::text AND ordering_key > $2::text");

    /* Index: rowlock_job_finished. */
    static final String DEAD = """
            /* rowlock:count-dead */
            SELECT count(*) AS n FROM (
              SELECT FROM rowlock_job WHERE state = 'dead' AND finished_at IS NOT NULL LIMIT $1::int) AS dead
            """;

    /* Index: rowlock_alert_open, from its end. Rows read: at most 1,000; given: at most $1. */
    static final String NOT_FIRING = """
            /* rowlock:schedules-not-firing */
            SELECT kind, (array_agg(reason ORDER BY id DESC))[1] AS reason, array_agg(id ORDER BY id) AS ids, max(last_at) AS last_at
            FROM (SELECT id, cause, kind, reason, last_at FROM rowlock_alert
                  WHERE acknowledged_at IS NULL ORDER BY id DESC LIMIT 1000) AS newest
            WHERE cause = 'schedule not firing'
            GROUP BY kind
            ORDER BY kind
            LIMIT $1::int
            """;

    private final Names names;

    public WaitingSql(Names names) {
        this.names = names;
    }

    /**
     * Jobs of one kind that wait in one queue.
     *
     * @param earliest when the first of them that nobody works on was or is due; null if all are being worked on
     * @param late whether it has been due for longer than was asked
     */
    public record Lane(String queue, String kind, @Nullable Instant earliest, boolean late) {}

    /** A paused queue, with why where that can be found, and how many jobs wait in it, counted up to a most. */
    public record Paused(
            String queue,
            Instant since,
            String who,
            @Nullable String why,
            long waiting) {}

    /** A schedule of which open alerts say that it does not fire, the last of them why. */
    public record Missing(String schedule, String reason, List<Long> alerts, Instant last) {}
    /** Queues and kinds in their order; at most so many of each of three sorts of jobs. */
    public List<Lane> lanes(Connection connection, int most, Duration late) throws SQLException {
        return new Sql(names, LANES)
                .query(
                        connection,
                        row -> new Lane(
                                row.getString("queue"),
                                row.getString("kind"),
                                Sql.instant(row, "earliest"),
                                row.getBoolean("late")),
                        most,
                        Sql.micros(late));
    }

    public List<Paused> paused(Connection connection, int most) throws SQLException {
        return new Sql(names, PAUSED)
                .query(
                        connection,
                        row -> new Paused(
                                row.getString("queue"),
                                Sql.requiredInstant(row, "paused_at"),
                                row.getString("paused_by"),
                                row.getString("why"),
                                row.getLong("n")),
                        most);
    }

    /** Behind one of them, in all queues. */
    public List<BlockedKey> blocked(Connection connection, @Nullable BlockedKey after, int most) throws SQLException {
        return new Sql(names, BLOCKED)
                .query(
                        connection,
                        WaitingSql::blockedKey,
                        after == null ? "" : after.queue(),
                        after == null ? "" : after.orderingKey(),
                        most);
    }

    /** The same in one queue. */
    public List<BlockedKey> blockedOf(Connection connection, String queue, @Nullable BlockedKey after, int most)
            throws SQLException {
        return new Sql(names, BLOCKED_OF_QUEUE)
                .query(connection, WaitingSql::blockedKey, queue, after == null ? "" : after.orderingKey(), most);
    }

    private static BlockedKey blockedKey(ResultSet row) throws SQLException {
        return new BlockedKey(
                row.getString("queue"),
                row.getString("ordering_key"),
                row.getLong("blocked_by"),
                row.getString("kind"),
                Sql.instant(row, "finished_at"),
                row.getBoolean("redacted"),
                row.getInt("n"));
    }

    /** By their names, at most so many. */
    public List<Missing> notFiring(Connection connection, int most) throws SQLException {
        return new Sql(names, NOT_FIRING)
                .query(
                        connection,
                        row -> new Missing(
                                row.getString("kind"),
                                row.getString("reason"),
                                Sql.longs(row, "ids"),
                                Sql.requiredInstant(row, "last_at")),
                        most);
    }

    /** How many dead letters there are, counted up to a most. */
    public long dead(Connection connection, int most) throws SQLException {
        return new Sql(names, DEAD)
                .query(connection, row -> row.getLong("n"), most)
                .get(0);
    }
}
