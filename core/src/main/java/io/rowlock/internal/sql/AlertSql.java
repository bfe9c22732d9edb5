package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Raises alerts: one row per cause, kind and hour, with a count. */
public final class AlertSql {
    /*
     * Always the last statement of its transaction. Locks: the alert rows, sorted by their key, so that two transactions
     * never wait for each other in a circle. Index: the unique one. Rows: at most one per kind given.
     */
    static final String RAISE = """
            /* rowlock:raise-alert */
            INSERT INTO rowlock_alert (cause, kind, bucket, n, job_id, reason)
            SELECT $1, a.kind, date_trunc('hour', statement_timestamp()), count(*), max(a.job_id),
                   (array_agg(a.reason ORDER BY a.job_id DESC))[1]
            FROM unnest($2::text[], $3::bigint[], $4::text[]) AS a(kind, job_id, reason)
            GROUP BY a.kind
            ORDER BY a.kind
            ON CONFLICT (cause, kind, bucket) DO UPDATE
            SET n = rowlock_alert.n + excluded.n, last_at = clock_timestamp(), job_id = excluded.job_id,
                reason = excluded.reason
            """;

    private final Sql raise;

    public AlertSql(Names names) {
        this.raise = new Sql(names, RAISE);
    }

    /** What an alert is about. */
    public record Cause(String kind, long jobId, String reason) {}

    public void raise(Connection connection, String cause, List<Cause> about) throws SQLException {
        raise.update(
                connection,
                cause,
                Sql.texts(about.stream().map(Cause::kind).toList()),
                Sql.bigints(about.stream().map(Cause::jobId).toList()),
                Sql.texts(about.stream().map(Cause::reason).toList()));
    }
}
