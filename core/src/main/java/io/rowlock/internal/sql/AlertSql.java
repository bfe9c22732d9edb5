package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Raises alerts: one open row per cause, kind and hour, with a count. */
public final class AlertSql {
    /*
     * Locks: the open alert rows, FOR NO KEY UPDATE in the order of their kinds, skipping what is locked: a person may be
     * about to acknowledge it, and a death must not wait for that. Where none can be counted up, as it is locked or
     * acknowledged, a new row is made; the first of an hour is named by the hour, so that of workers at the same time one
     * makes it and the others count it up, which waits for their short transactions only. Index: the unique one.
     * Rows: at most one per kind given.
     */
    static final String RAISE = """
            /* rowlock:raise-alert */
            WITH about AS MATERIALIZED (
              SELECT a.kind, count(*) AS n, max(a.job_id) AS job_id,
                     (array_agg(a.reason ORDER BY a.job_id DESC))[1] AS reason
              FROM unnest($2::text[], $3::bigint[], $4::text[]) AS a(kind, job_id, reason)
              GROUP BY a.kind),
            opened AS MATERIALIZED (
              SELECT id, kind
              FROM rowlock_alert
              WHERE cause = $1 AND kind = ANY(ARRAY(SELECT kind FROM about))
                AND bucket >= date_trunc('hour', statement_timestamp()) AND acknowledged_at IS NULL
              ORDER BY kind, bucket
              FOR NO KEY UPDATE SKIP LOCKED),
            counted AS (
              UPDATE rowlock_alert
              SET n = rowlock_alert.n + about.n, last_at = clock_timestamp(), job_id = about.job_id, reason = about.reason
              FROM about
              WHERE rowlock_alert.id = ANY(ARRAY(SELECT min(id) FROM opened GROUP BY kind)) AND rowlock_alert.kind = about.kind)
            INSERT INTO rowlock_alert (cause, kind, bucket, n, job_id, reason)
            SELECT $1, about.kind,
                   CASE WHEN EXISTS (SELECT 1 FROM rowlock_alert taken
                                     WHERE taken.cause = $1 AND taken.kind = about.kind
                                       AND taken.bucket = date_trunc('hour', statement_timestamp()))
                        THEN statement_timestamp() ELSE date_trunc('hour', statement_timestamp()) END,
                   about.n, about.job_id, about.reason
            FROM about
            WHERE about.kind <> ALL(ARRAY(SELECT kind FROM opened))
            ORDER BY about.kind
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
