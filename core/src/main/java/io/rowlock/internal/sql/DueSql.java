package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts what is due, up to a bound. */
public final class DueSql {
    /*
     * How much there is to do in lanes, counted up to a bound: so that nothing is taken of a limit for nothing. Locks: none.
     * Index: a range of rowlock_job_due, _suspect and _keyed per lane; none of a paused queue. Rows: at most $6 of each. Limits only on what counts.
     */
    static final String DUE = """
            /* rowlock:due-of-queues */
            SELECT lane.queue, sum(due.n + keyed.n + suspects.n)::integer AS n
            FROM unnest($1::text[], $2::text[], $3::integer[], $4::timestamptz[], $5::timestamptz[])
              AS lane(queue, kind, priority, since, keyed_since)
            CROSS JOIN LATERAL (
              SELECT count(*) AS n
              FROM (
                SELECT 1
                FROM rowlock_job j
                WHERE j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses = 0
                  AND j.queue = lane.queue AND j.kind = lane.kind AND j.priority = lane.priority
                  AND j.run_at >= coalesce(lane.since, '-infinity') AND j.run_at <= statement_timestamp()
                  AND j.locked_by IS NULL
                LIMIT $6) d) due
            CROSS JOIN LATERAL (
              SELECT count(*) AS n
              FROM (
                SELECT 1
                FROM rowlock_job j
                WHERE j.state = 'ready' AND (j.ordering_key IS NOT NULL OR j.limit_key IS NOT NULL)
                  AND j.queue = lane.queue AND j.kind = lane.kind AND j.priority = lane.priority
                  AND j.run_at >= coalesce(lane.keyed_since, '-infinity') AND j.run_at <= statement_timestamp()
                  AND j.locked_by IS NULL
                LIMIT $6) d) keyed
            CROSS JOIN LATERAL (
              SELECT count(*) AS n
              FROM (
                SELECT 1
                FROM rowlock_job j
                WHERE j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses > 0
                  AND j.queue = lane.queue AND j.kind = lane.kind AND j.priority = lane.priority
                  AND j.run_at <= statement_timestamp() AND j.locked_by IS NULL
                LIMIT 1) d) suspects
            WHERE NOT coalesce((SELECT p.paused_at IS NOT NULL FROM rowlock_queue p WHERE p.queue = lane.queue LIMIT 1), false)
            GROUP BY lane.queue
            """;

    private final Sql due;

    public DueSql(Names names) {
        this.due = new Sql(names, DUE);
    }

    /** A lane, and from where to look in it for jobs without and with keys (null: from its beginning). */
    public record Look(
            String queue,
            String kind,
            int priority,
            @Nullable Instant since,
            @Nullable Instant keyedSince) {}

    /** How many jobs are due in each queue, each lane counted up to so many. */
    public Map<String, Integer> due(Connection connection, List<Look> lanes, int most) throws SQLException {
        Map<String, Integer> found = new HashMap<>();
        due.query(
                connection,
                row -> found.put(row.getString("queue"), row.getInt("n")),
                Sql.texts(Sql.column(lanes, Look::queue)),
                Sql.texts(Sql.column(lanes, Look::kind)),
                Sql.integers(Sql.column(lanes, Look::priority)),
                Sql.instants(Sql.column(lanes, Look::since)),
                Sql.instants(Sql.column(lanes, Look::keyedSince)),
                most);
        return found;
    }
}
