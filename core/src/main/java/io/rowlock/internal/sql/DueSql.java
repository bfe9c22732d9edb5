package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts what is due, up to a bound; or says whether anything is. */
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

    /*
     * Whether any row of the lanes is due, leased or not, from their beginning: if none is, neither a claim nor a sweep of
     * lanes finds one. Locks: none. Index: the first entry of rowlock_job_due, _suspect and _keyed each, which is all where
     * nothing is ready; only where an index has entries, of whatever lane and time, a range of it per lane. Rows: one.
     * The sub-selects have no outer columns, so that each is done once, when it is asked for, and AND and OR ask no further
     * than they need. Not EXISTS: it drops ORDER BY, without which the planner may walk the table for its first row.
     */
    static final String ANY_DUE = anyDue("/* rowlock:any-due */ SELECT statement_timestamp() AS asked_at,"
            + " current_setting('transaction_read_only')::boolean AS read_only, ");

    private static String anyDue(String head) {
        return head
                + anyOf("ordering_key IS NULL AND limit_key IS NULL AND losses = 0")
                + " OR "
                + anyOf("ordering_key IS NULL AND limit_key IS NULL AND losses > 0")
                + " OR "
                + anyOf("(ordering_key IS NOT NULL OR limit_key IS NOT NULL)")
                + " AS due";
    }

    private static String anyOf(String index) {
        return """
            (coalesce((
               SELECT true
               FROM rowlock_job
               WHERE state = 'ready' AND %1$s
               ORDER BY queue, kind, priority, run_at, id
               LIMIT 1), false)
             AND coalesce((
               SELECT true
               FROM unnest($1::text[], $2::text[], $3::integer[]) AS lane(queue, kind, priority)
               CROSS JOIN LATERAL (
                 SELECT id
                 FROM rowlock_job
                 WHERE state = 'ready' AND %1$s
                   AND queue = lane.queue AND kind = lane.kind AND priority = lane.priority
                   AND run_at <= statement_timestamp()
                 ORDER BY run_at, id
                 LIMIT 1) first
               LIMIT 1), false))
            """.formatted(index);
    }

    private final Sql due;
    private final Sql anyDue;

    public DueSql(Names names) {
        this.due = new Sql(names, DUE);
        this.anyDue = new Sql(names, ANY_DUE);
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

    /** Whether anything is due, and when the database was asked. */
    public record AnyDue(Instant askedAt, boolean due) {}

    /**
     * Looks whether any row of these lanes is due, leased or not.
     *
     * @throws SQLException 25006 where nothing can be claimed, as after a switch-over on the server that was the primary (case B51)
     */
    public AnyDue any(Connection connection, List<Look> lanes) throws SQLException {
        return anyDue.query(
                        connection,
                        row -> {
                            if (row.getBoolean("read_only")) {
                                throw new SQLException("this server takes no writes: nothing can be claimed", "25006");
                            }
                            return new AnyDue(Sql.requiredInstant(row, "asked_at"), row.getBoolean("due"));
                        },
                        Sql.texts(Sql.column(lanes, Look::queue)),
                        Sql.texts(Sql.column(lanes, Look::kind)),
                        Sql.integers(Sql.column(lanes, Look::priority)))
                .get(0);
    }
}
