package io.rowlock.internal.sql;

import io.rowlock.internal.sql.LimitSql.LockedLimit;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** Makes jobs that are parked as their limit key was full ready again, and finds limits that need it. READ COMMITTED only. */
public final class PromoteSql {
    /*
     * The limits are locked and unchanged by this transaction. Of each limit that has room, the first due jobs of the
     * kinds in $7 that are parked become ready, at most $4 of each ($9 of one with a rate) and as many as there is room
     * for beside the $8 this worker holds: what is left of the window, and, where that ends within $5 microseconds, what
     * the next one has, due at its beginning. The levels have their shares: the next slot is number $10 of the round, and
     * $11 and $12 say how many slots more are owed to normal and low jobs. What a level has no use for goes to the
     * highest that has. Beside these, the first $13 of each kind and level that are not due yet become ready for their own
     * time, as they need no room before. A limit with none parked says so from then on.
     * Locks: the jobs, skipping what is locked. Index: rowlock_job_limited, two ranges per limit, kind and level.
     */
    static final String PROMOTE = """
            /* rowlock:promote-limited */
            WITH limits AS MATERIALIZED (
              SELECT k.queue, k.limit_key, k.place, k.early, bin.begins + most.per AS next_at, left_now.tokens AS left_now, f.free,
                     (k.dealt + f.free) / 4 - k.dealt / 4 - (k.dealt + f.free) / 16 + k.dealt / 16 + k.normal AS normal,
                     (k.dealt + f.free) / 16 - k.dealt / 16 + k.low AS low
              FROM unnest($1::text[], $2::text[], $6::text[]::tid[], $4::integer[], $8::integer[], $9::integer[],
                          $10::integer[], $11::integer[], $12::integer[], $13::integer[])
                AS k(queue, limit_key, place, most, held, most_of_rate, dealt, normal, low, early)
            """ + LimitSql.ROOM + """
              CROSS JOIN LATERAL (
                SELECT CASE WHEN most.rate IS NOT NULL THEN greatest(room.tokens, 0) END AS tokens) left_now
              CROSS JOIN LATERAL (
                SELECT greatest(0, least(
                         CASE WHEN most.rate IS NULL THEN k.most ELSE k.most_of_rate END, room.slots - k.held,
                         left_now.tokens
                           + CASE WHEN bin.begins + most.per <= statement_timestamp() + $5::bigint * interval '1 microsecond'
                                  THEN most.rate ELSE 0 END)) AS free) f),
            next AS MATERIALIZED (
              SELECT j.id, CASE WHEN row_number() OVER (PARTITION BY l.place ORDER BY j.n) > l.left_now THEN l.next_at END AS due
              FROM limits l
              CROSS JOIN LATERAL (
                SELECT d.id, row_number() OVER (
                         ORDER BY d.n > d.share, CASE WHEN d.n > d.share THEN d.priority ELSE -d.priority END, d.run_at, d.id) AS n
                FROM (
                  SELECT c.id, c.priority, c.run_at, row_number() OVER (PARTITION BY c.priority ORDER BY c.run_at, c.id) AS n,
                         CASE c.priority WHEN 0 THEN l.free - l.normal - l.low WHEN 1 THEN l.normal ELSE l.low END AS share
                  FROM unnest($7::text[]) AS own(kind)
                  CROSS JOIN (VALUES (0::smallint), (1::smallint), (2::smallint)) AS level(priority)
                  CROSS JOIN LATERAL (
                    SELECT j.id, j.priority, j.run_at
                    FROM rowlock_job j
                    WHERE j.state = 'parked' AND j.limited AND j.queue = l.queue AND j.limit_key = l.limit_key
                      AND j.kind = own.kind AND j.priority = level.priority AND j.run_at <= statement_timestamp()
                    ORDER BY j.run_at, j.id
                    LIMIT l.free) c) d
                ORDER BY n
                LIMIT l.free) j
              UNION ALL
              SELECT j.id, NULL
              FROM limits l
              CROSS JOIN unnest($7::text[]) AS own(kind)
              CROSS JOIN (VALUES (0::smallint), (1::smallint), (2::smallint)) AS level(priority)
              CROSS JOIN LATERAL (
                SELECT j.id
                FROM rowlock_job j
                WHERE j.state = 'parked' AND j.limited AND j.queue = l.queue AND j.limit_key = l.limit_key
                  AND j.kind = own.kind AND j.priority = level.priority AND j.run_at > statement_timestamp()
                ORDER BY j.run_at, j.id
                LIMIT l.early) j),
            locked AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM next)) AND (state = 'parked') IS TRUE AND limited
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            emptied AS (
              UPDATE rowlock_limit
              SET parked = false
              WHERE ctid = ANY(ARRAY(
                SELECT l.place
                FROM limits l
                WHERE NOT coalesce((
                  SELECT true
                  FROM rowlock_job j
                  WHERE j.state = 'parked' AND j.limited AND j.queue = l.queue AND j.limit_key = l.limit_key
                  LIMIT 1), false))))
            UPDATE rowlock_job
            SET state = 'ready', limited = false,
                run_at = greatest(run_at, clock_timestamp(),
                                  (ARRAY(SELECT due FROM next ORDER BY id))[array_position(ARRAY(SELECT id FROM next ORDER BY id), id)])
            WHERE id = ANY(ARRAY(SELECT id FROM locked))
            RETURNING id, round(extract(epoch FROM run_at - clock_timestamp()) * 1000000)::bigint AS due_in
            """;

    /* Whether a limit has not been used for an hour, its last window included. */
    private static final String IDLE = """
            NOT l.parked
              AND l.window_at < statement_timestamp() - interval '1 hour' - coalesce((
                SELECT greatest(q.rate_per, q.key_rate_per) FROM rowlock_queue q WHERE q.queue = l.queue LIMIT 1), interval '0')
              AND NOT coalesce((
                SELECT true
                FROM rowlock_slot s
                WHERE s.queue = l.queue AND s.limit_key = l.limit_key
                  AND s.held_until >= statement_timestamp() - interval '1 hour'
                LIMIT 1), false)
            """;

    /*
     * Locks: none. Index: a range of rowlock_limit_pk from a cursor, then a look at the slots of each. Rows: at most $3
     * looked at.
     */
    static final String VISIT = """
            /* rowlock:visit-limits */
            SELECT l.queue, l.limit_key, l.parked,
                   coalesce((
                     SELECT true
                     FROM rowlock_slot s
                     WHERE s.queue = l.queue AND s.limit_key = l.limit_key
                       AND s.held_until < statement_timestamp() - interval '1 hour'
                     LIMIT 1), false) AS left_behind,
            """ + IDLE + """
              AS idle
            FROM (
              SELECT queue, limit_key, parked, window_at
              FROM rowlock_limit
              WHERE (queue, limit_key) > ($1, $2)
              ORDER BY queue, limit_key
              LIMIT $3) l
            ORDER BY l.queue, l.limit_key
            """;

    /*
     * What workers left behind that are gone for an hour, or stand still so long: these write anew what they hold. The
     * limits are locked. Locks: the rows, skipping one that its worker has in hand. Index: rowlock_slot_pk, a range per
     * limit, then rowlock_slot_id. Rows: at most 20 per limit.
     */
    static final String FORGET = """
            /* rowlock:forget-slots */
            DELETE FROM rowlock_slot
            WHERE id = ANY(ARRAY(
              SELECT s.id
              FROM unnest($1::text[], $2::text[]) AS k(queue, limit_key)
              CROSS JOIN LATERAL (
                SELECT id
                FROM rowlock_slot
                WHERE queue = k.queue AND limit_key = k.limit_key AND held_until < statement_timestamp() - interval '1 hour'
                LIMIT 20
                FOR UPDATE SKIP LOCKED) s))
            """;

    /*
     * The limits were seen idle, and are locked now: what was used or parked in between is seen. Locks: nobody else's, as
     * whoever takes slots or tokens has the limit's lock. Index: places, and rowlock_slot_pk, a range per limit.
     */
    static final String DROP = """
            /* rowlock:drop-limits */
            WITH idle AS MATERIALIZED (
              SELECT l.ctid AS place, l.queue, l.limit_key
              FROM rowlock_limit l
              WHERE l.ctid = ANY(ARRAY(SELECT unnest($1::text[])::tid)) AND
            """ + IDLE + """
              ),
            left_over AS (
              DELETE FROM rowlock_slot
              WHERE id = ANY(ARRAY(
                SELECT s.id
                FROM idle i
                CROSS JOIN LATERAL (
                  SELECT id FROM rowlock_slot WHERE queue = i.queue AND limit_key = i.limit_key LIMIT 1000) s)))
            DELETE FROM rowlock_limit WHERE ctid = ANY(ARRAY(SELECT place FROM idle))
            """;

    private final Sql promote;
    private final Sql visit;
    private final Sql forget;
    private final Sql drop;

    public PromoteSql(Names names) {
        this.promote = new Sql(names, PROMOTE);
        this.visit = new Sql(names, VISIT);
        this.forget = new Sql(names, FORGET);
        this.drop = new Sql(names, DROP);
    }

    /** A limit that a sweep looked at: whether jobs are parked, nobody has used it, or workers have left slots behind. */
    public record Visited(LimitKey key, boolean parked, boolean idle, boolean leftBehind) {}

    /**
     * Whose turn it is among the levels of a limit: which slot of the round of sixteen is the next, and how many more are
     * owed to normal and low jobs.
     */
    public record Turn(int dealt, int normal, int low) {}

    /**
     * How many of a limit to make ready at most, beside what this worker holds of it: one with a rate, which says itself
     * how many are to be ready, or one without; and how many of each kind and level that are not due yet.
     */
    public record Promotion(LockedLimit limit, int most, int mostOfRate, int early, int held, Turn turn) {}

    /** Makes parked jobs of these kinds ready; gives in how long each is due. */
    public List<Duration> promote(
            Connection connection, String owner, Collection<String> kinds, Duration ahead, List<Promotion> promotions)
            throws SQLException {
        List<LimitKey> keys =
                promotions.stream().map(each -> each.limit().key()).toList();
        return promote.query(
                connection,
                row -> Sql.duration(Math.max(0, row.getLong("due_in"))),
                LimitSql.queues(keys),
                LimitSql.texts(keys),
                owner,
                Sql.integers(Sql.column(promotions, Promotion::most)),
                Sql.micros(ahead),
                Sql.texts(Sql.column(promotions, each -> each.limit().place())),
                Sql.texts(kinds),
                Sql.integers(Sql.column(promotions, Promotion::held)),
                Sql.integers(Sql.column(promotions, Promotion::mostOfRate)),
                Sql.integers(Sql.column(promotions, each -> each.turn().dealt())),
                Sql.integers(Sql.column(promotions, each -> each.turn().normal())),
                Sql.integers(Sql.column(promotions, each -> each.turn().low())),
                Sql.integers(Sql.column(promotions, Promotion::early)));
    }

    /** Looks at limits after this one, at most so many, in their order. */
    public List<Visited> visit(Connection connection, LimitKey after, int most) throws SQLException {
        return visit.query(
                connection,
                row -> new Visited(
                        new LimitKey(row.getString("queue"), row.getString("limit_key")),
                        row.getBoolean("parked"),
                        row.getBoolean("idle"),
                        row.getBoolean("left_behind")),
                after.queue(),
                after.text(),
                most);
    }

    /** Deletes slots that workers have left behind, a few of each limit. */
    public void forget(Connection connection, List<LimitKey> limits) throws SQLException {
        forget.update(connection, LimitSql.queues(limits), LimitSql.texts(limits));
    }

    /** Drops those limits that are idle still. */
    public void drop(Connection connection, List<LockedLimit> limits) throws SQLException {
        drop.update(connection, Sql.texts(Sql.column(limits, LockedLimit::place)));
    }
}
