package io.rowlock.internal.sql;

import io.rowlock.job.JobCounts;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Counts what waits, and says for how long; no locks. Each count stops at a bound, however many there are. */
public final class CountSql {
    private static final String UNKEYED =
            "j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses = 0";
    private static final String SUSPECT =
            "j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses > 0";
    private static final String KEYED = "j.state = 'ready' AND (j.ordering_key IS NOT NULL OR j.limit_key IS NOT NULL)";

    private static final String FROM_LANE_TO_LANE = """
            %1$s(queue, kind) AS (
              (SELECT j.queue, j.kind FROM rowlock_job j WHERE %2$s ORDER BY j.queue, j.kind LIMIT 1)
              UNION ALL
              SELECT n.queue, n.kind
              FROM %1$s
              CROSS JOIN LATERAL (
                SELECT j.queue, j.kind
                FROM rowlock_job j
                WHERE %2$s AND (j.queue, j.kind) > (%1$s.queue, %1$s.kind)
                ORDER BY j.queue, j.kind
                LIMIT 1) n)
            """;

    /* Indexes: rowlock_job_due, _suspect and _keyed, from one queue and kind to the next. Rows: as many as there are of these. */
    static final String LANES = "/* rowlock:lanes-ready */ WITH RECURSIVE "
            + FROM_LANE_TO_LANE.formatted("unkeyed", UNKEYED)
            + ", "
            + FROM_LANE_TO_LANE.formatted("suspect", SUSPECT)
            + ", "
            + FROM_LANE_TO_LANE.formatted("keyed", KEYED)
            + " SELECT queue, kind FROM unkeyed UNION SELECT queue, kind FROM suspect UNION SELECT queue, kind FROM keyed"
            + " LIMIT 10000";

    private static final String OF_LANE =
            " AND j.queue = lane.queue AND j.kind = lane.kind AND j.priority = level.priority";
    private static final String OLDEST_FIRST = " ORDER BY j.run_at, j.id LIMIT " + JobCounts.MOST + ")";

    private static String ready(String bound) {
        return "(SELECT j.run_at, j.locked_by IS NOT NULL AS leased, false AS suspect FROM rowlock_job j WHERE "
                + UNKEYED
                + OF_LANE + bound + OLDEST_FIRST
                + " UNION ALL (SELECT j.run_at, j.locked_by IS NOT NULL, true FROM rowlock_job j WHERE " + SUSPECT
                + OF_LANE
                + bound + OLDEST_FIRST
                + " UNION ALL (SELECT j.run_at, j.locked_by IS NOT NULL, j.losses > 0 FROM rowlock_job j WHERE " + KEYED
                + OF_LANE + bound + OLDEST_FIRST;
    }

    private static String aside(String state) {
        return "(SELECT count(*) FROM (SELECT 1 FROM rowlock_job j WHERE j.state IN ('parked', 'dead', 'cancelled') AND j.state = '"
                + state + "' AND j.queue = lane.queue AND j.kind = lane.kind LIMIT " + JobCounts.MOST + ") AS counted)";
    }

    /*
     * Indexes: as LANES, oldest first, and rowlock_job_aside. Rows read: at most so many of each index and level, and of those
     * set aside, for each queue and kind; what is due may have an owner, which stands in the table only.
     */
    static final String COUNT = "/* rowlock:count-lanes */ SELECT lane.queue, lane.kind,"
            + " least(due.due, " + JobCounts.MOST + ") AS due, due.oldest,"
            + " coalesce(round(extract(epoch FROM statement_timestamp() - due.oldest) * 1000000), 0)::bigint AS behind,"
            + " least(due.leased + future.leased, " + JobCounts.MOST + ") AS leased,"
            + " least(due.suspects + future.suspects, " + JobCounts.MOST + ") AS suspects,"
            + " least(future.n, " + JobCounts.MOST + ") AS future,"
            + aside("parked") + " AS parked, " + aside("dead") + " AS dead"
            + " FROM unnest($1::text[], $2::text[]) AS lane(queue, kind)"
            + " CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE NOT leased) AS due,"
            + " min(run_at) FILTER (WHERE NOT leased) AS oldest, count(*) FILTER (WHERE leased) AS leased,"
            + " count(*) FILTER (WHERE suspect) AS suspects"
            + " FROM (VALUES (0::smallint), (1::smallint), (2::smallint)) AS level(priority) CROSS JOIN LATERAL ("
            + ready(" AND j.run_at <= statement_timestamp()") + ") AS rows) AS due"
            + " CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE NOT leased) AS n, count(*) FILTER (WHERE leased) AS leased,"
            + " count(*) FILTER (WHERE suspect) AS suspects"
            + " FROM (VALUES (0::smallint), (1::smallint), (2::smallint)) AS level(priority) CROSS JOIN LATERAL ("
            + ready(" AND j.run_at > statement_timestamp()") + ") AS rows) AS future"
            + " ORDER BY lane.queue, lane.kind";

    private final Sql lanes;
    private final Sql count;

    public CountSql(Names names) {
        this.lanes = new Sql(names, LANES);
        this.count = new Sql(names, COUNT);
    }

    /** A queue and a kind. */
    public record QueueAndKind(String queue, String kind) implements Comparable<QueueAndKind> {
        @Override
        public int compareTo(QueueAndKind other) {
            int byQueue = queue.compareTo(other.queue);
            return byQueue == 0 ? kind.compareTo(other.kind) : byQueue;
        }
    }

    /** Those of which jobs are ready. */
    public Set<QueueAndKind> lanes(Connection connection) throws SQLException {
        return new TreeSet<>(
                lanes.query(connection, row -> new QueueAndKind(row.getString("queue"), row.getString("kind"))));
    }

    /** What these have. */
    public List<JobCounts> count(Connection connection, Collection<QueueAndKind> of) throws SQLException {
        return count.query(
                connection,
                CountSql::counts,
                Sql.texts(Sql.column(of, QueueAndKind::queue)),
                Sql.texts(Sql.column(of, QueueAndKind::kind)));
    }

    private static JobCounts counts(ResultSet row) throws SQLException {
        return new JobCounts(
                row.getString("queue"),
                row.getString("kind"),
                new JobCounts.Lag(row.getLong("due"), Sql.instant(row, "oldest"), Sql.duration(row.getLong("behind"))),
                row.getLong("future"),
                row.getLong("leased"),
                row.getLong("suspects"),
                row.getLong("parked"),
                row.getLong("dead"));
    }
}
