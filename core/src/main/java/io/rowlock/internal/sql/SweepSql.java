package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Walks lanes from their beginning for late rows, suspects and expired leases, and takes expired leases away. */
public final class SweepSql {
    /*
     * Locks: none. Index: a range of rowlock_job_due, and of rowlock_job_suspect, per lane. Rows: at most $7 per lane
     * and index; one row comes back per lane. Row-wise comparison with (run_at, id) is one index condition.
     */
    static final String WALK = """
            /* rowlock:walk */
            SELECT l.n, count(*) AS walked, max(w.run_at) AS last_at,
                   (array_agg(w.id ORDER BY w.run_at DESC, w.id DESC))[1] AS last_id,
                   count(*) FILTER (WHERE w.locked_by IS NOT NULL) AS leased,
                   array_agg(w.id) FILTER (WHERE w.locked_until < statement_timestamp()) AS expired,
                   array_agg(w.id) FILTER (WHERE w.locked_by IS NULL AND w.run_at < l.late_before) AS late,
                   min(w.run_at) FILTER (WHERE w.locked_by IS NULL AND w.run_at < l.late_before) AS late_from
            FROM unnest($1::integer[], $2::text[], $3::text[], $4::integer[], $5::timestamptz[], $6::bigint[],
                        $8::timestamptz[]) AS l(n, queue, kind, priority, from_at, from_id, late_before)
            CROSS JOIN LATERAL (
              SELECT j.id, j.run_at, j.locked_by, j.locked_until
              FROM rowlock_job j
              WHERE j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses = 0
                AND j.queue = l.queue AND j.kind = l.kind AND j.priority = l.priority
                AND (j.run_at, j.id) > (coalesce(l.from_at, '-infinity'), coalesce(l.from_id, 0))
                AND j.run_at <= statement_timestamp()
              ORDER BY j.run_at, j.id
              LIMIT $7) w
            GROUP BY l.n
            """;

    /* As WALK, over the suspects, always from the beginning: they are few. */
    static final String WALK_SUSPECTS = """
            /* rowlock:walk-suspects */
            SELECT w.id, l.n, w.locked_by IS NULL AS waiting, w.locked_until < statement_timestamp() AS expired
            FROM unnest($1::text[], $2::text[], $3::integer[]) WITH ORDINALITY AS l(queue, kind, priority, n)
            CROSS JOIN LATERAL (
              SELECT j.id, j.run_at, j.locked_by, j.locked_until
              FROM rowlock_job j
              WHERE j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses > 0
                AND j.queue = l.queue AND j.kind = l.kind AND j.priority = l.priority
                AND j.run_at <= statement_timestamp()
              ORDER BY j.run_at, j.id
              LIMIT $4) w
            ORDER BY w.run_at, w.id
            """;

    /*
     * As WALK, over the jobs with ordering keys, row by row: whoever rescues one needs its key. Suspects are never late, as claims
     * find them wherever they stand. Index: a range of rowlock_job_keyed per lane.
     */
    static final String WALK_KEYED = """
            /* rowlock:walk-keyed */
            SELECT l.n, w.id, w.run_at, l.queue, w.ordering_key, w.locked_by IS NULL AND w.losses = 0 AS waiting,
                   coalesce(w.locked_until < statement_timestamp(), false) AS expired
            FROM unnest($1::text[], $2::text[], $3::integer[], $4::timestamptz[], $5::bigint[])
              WITH ORDINALITY AS l(queue, kind, priority, from_at, from_id, n)
            CROSS JOIN LATERAL (
              SELECT j.id, j.run_at, j.ordering_key, j.locked_by, j.locked_until, j.losses
              FROM rowlock_job j
              WHERE j.state = 'ready' AND (j.ordering_key IS NOT NULL OR j.limit_key IS NOT NULL)
                AND j.queue = l.queue AND j.kind = l.kind AND j.priority = l.priority
                AND (j.run_at, j.id) > (coalesce(l.from_at, '-infinity'), coalesce(l.from_id, 0))
                AND j.run_at <= statement_timestamp()
              ORDER BY j.run_at, j.id
              LIMIT $6) w
            ORDER BY l.n, w.run_at, w.id
            """;

    /*
     * Locks: the expired rows, FOR NO KEY UPDATE in id order, skipping what is locked; lease and state are checked again
     * under the lock, against the clock. Index: the primary key. Rows: at most as many as ids. Raises the token, so the
     * old owner's writes count for nothing. Per-row values come by arrays, as a join to expired is quadratic (see ClaimSql).
     */
    static final String RESCUE = """
            /* rowlock:rescue */
            WITH expired AS MATERIALIZED (
              SELECT id, queue, kind, attempts, locked_by AS worker, dedup_mode IS NOT NULL AS deduplicated,
                     attempts >= coalesce(max_attempts, ($3::integer[])[array_position($2::text[], kind)]) AS used_up
              FROM rowlock_job
              WHERE id = ANY($1::bigint[]) AND state = 'ready' AND locked_by IS NOT NULL AND locked_until < clock_timestamp()
                AND kind = ANY($2::text[])
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            rescued AS (
              UPDATE rowlock_job
              SET state = CASE WHEN id = ANY(ARRAY(SELECT id FROM expired WHERE used_up)) THEN 'dead' ELSE 'ready' END,
                  finished_at = CASE WHEN id = ANY(ARRAY(SELECT id FROM expired WHERE used_up)) THEN clock_timestamp() END,
                  run_at = clock_timestamp(), losses = losses + 1, token = token + 1,
                  locked_by = NULL, locked_until = NULL, last_error = 'worker lost'
              WHERE id = ANY(ARRAY(SELECT id FROM expired))),
            failed AS (
              INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)
              SELECT id, attempts, worker, 'worker lost', 'the lease ran out without an outcome', '' FROM expired)
            SELECT id, queue, kind, attempts, used_up, worker, deduplicated FROM expired ORDER BY id
            """;

    private final Sql walk;
    private final Sql walkSuspects;
    private final Sql walkKeyed;
    private final Sql rescue;

    public SweepSql(Names names) {
        this.walk = new Sql(names, WALK);
        this.walkSuspects = new Sql(names, WALK_SUSPECTS);
        this.walkKeyed = new Sql(names, WALK_KEYED);
        this.rescue = new Sql(names, RESCUE);
    }

    /** Where to go on in a lane: after this row (null: from its beginning); unowned rows before lateBefore are late. */
    public record LaneWalk(
            String queue,
            String kind,
            int priority,
            @Nullable Instant fromAt,
            @Nullable Long fromId,
            @Nullable Instant lateBefore) {}

    /** What one step through the lane with this number saw. Lanes with no row in the step are left out. */
    public record Walked(
            int lane,
            Span span,
            int leased,
            List<Long> expired,
            List<Long> late,
            @Nullable Instant lateFrom) {}

    /** How many rows a step saw, and the last of them. */
    public record Span(int rows, Instant lastAt, long lastId) {}

    /** A due suspect of the lane with this number. */
    public record Suspect(long id, int lane, boolean waiting, boolean expired) {}

    /** A due job with an ordering key, of the lane with this number. */
    public record KeyedRow(
            int lane, long id, Instant runAt, @Nullable OrderingKey key, boolean waiting, boolean expired) {}

    /** A job taken from a lost worker; dead if its attempts were used up. */
    public record Rescued(
            long id, String queue, String kind, int attempts, boolean dead, String worker, boolean deduplicated) {}

    /** Walks at most so many rows of each lane. */
    public List<Walked> walk(Connection connection, List<LaneWalk> lanes, int rowsPerLane) throws SQLException {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < lanes.size(); i++) {
            numbers.add(i);
        }
        return walk.query(
                connection,
                row -> new Walked(
                        row.getInt("n"),
                        new Span(row.getInt("walked"), Sql.requiredInstant(row, "last_at"), row.getLong("last_id")),
                        row.getInt("leased"),
                        Sql.longs(row, "expired"),
                        Sql.longs(row, "late"),
                        Sql.instant(row, "late_from")),
                Sql.integers(numbers),
                Sql.texts(Sql.column(lanes, LaneWalk::queue)),
                Sql.texts(Sql.column(lanes, LaneWalk::kind)),
                Sql.integers(Sql.column(lanes, LaneWalk::priority)),
                Sql.instants(Sql.column(lanes, LaneWalk::fromAt)),
                Sql.bigints(Sql.column(lanes, LaneWalk::fromId)),
                rowsPerLane,
                Sql.instants(Sql.column(lanes, LaneWalk::lateBefore)));
    }

    /** The first due suspects of each lane. */
    public List<Suspect> suspects(Connection connection, List<LaneWalk> lanes, int rowsPerLane) throws SQLException {
        return walkSuspects.query(
                connection,
                row -> new Suspect(
                        row.getLong("id"), row.getInt("n") - 1, row.getBoolean("waiting"), row.getBoolean("expired")),
                Sql.texts(Sql.column(lanes, LaneWalk::queue)),
                Sql.texts(Sql.column(lanes, LaneWalk::kind)),
                Sql.integers(Sql.column(lanes, LaneWalk::priority)),
                rowsPerLane);
    }

    /** Walks at most so many rows with ordering keys of each lane, in order. */
    public List<KeyedRow> walkKeyed(Connection connection, List<LaneWalk> lanes, int rowsPerLane) throws SQLException {
        return walkKeyed.query(
                connection,
                row -> {
                    String key = row.getString("ordering_key");
                    return new KeyedRow(
                            row.getInt("n") - 1,
                            row.getLong("id"),
                            Sql.requiredInstant(row, "run_at"),
                            key == null ? null : new OrderingKey(row.getString("queue"), key),
                            row.getBoolean("waiting"),
                            row.getBoolean("expired"));
                },
                Sql.texts(Sql.column(lanes, LaneWalk::queue)),
                Sql.texts(Sql.column(lanes, LaneWalk::kind)),
                Sql.integers(Sql.column(lanes, LaneWalk::priority)),
                Sql.instants(Sql.column(lanes, LaneWalk::fromAt)),
                Sql.bigints(Sql.column(lanes, LaneWalk::fromId)),
                rowsPerLane);
    }

    /** Takes expired leases away from those of the given jobs whose kinds are known, with the kinds' attempt limits. */
    public List<Rescued> rescue(Connection connection, Collection<Long> ids, Map<String, Integer> maxAttempts)
            throws SQLException {
        List<String> kinds = List.copyOf(maxAttempts.keySet());
        return rescue.query(
                connection,
                row -> new Rescued(
                        row.getLong("id"),
                        row.getString("queue"),
                        row.getString("kind"),
                        row.getInt("attempts"),
                        row.getBoolean("used_up"),
                        row.getString("worker"),
                        row.getBoolean("deduplicated")),
                Sql.bigints(ids),
                Sql.texts(kinds),
                Sql.integers(kinds.stream().map(maxAttempts::get).toList()));
    }
}
