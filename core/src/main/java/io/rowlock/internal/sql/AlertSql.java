package io.rowlock.internal.sql;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent.AlertRaised;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Raises alerts: one open row per cause, kind and hour, with a count. */
public final class AlertSql {
    /*
     * Locks: one open row of each kind, FOR NO KEY UPDATE, skipping what is locked: a person may be about to acknowledge it,
     * and a death must not wait for that. Where none can be counted up, as all are locked or acknowledged, a new row is made:
     * no more of them than workers raise at the same time; the first of an hour is named by the hour, so that of workers at the same time one
     * makes it and the others count it up, which waits for their short transactions only. It may be acknowledged just
     * then: what happened after that is opened again, as nobody has seen it. Hours are those of UTC: in a zone with half hours
     * they would be others, and an hour have two rows. Indexes: the unique one; the primary key of jobs, once for each kind.
     * untold is written as it was, unless a threshold is reached: it stands in an index, and the others are HOT updates.
     * Rows: at most one per kind given; those that were made come back.
     */
    static final String RAISE = """
            /* rowlock:raise-alert */
            WITH about AS MATERIALIZED (
              SELECT g.kind, g.n, g.job_id, g.reason,
                     nullif(coalesce(g.subject, (SELECT subject FROM rowlock_job WHERE id = g.job_id)), '') AS subject
              FROM (SELECT a.kind, count(*) AS n, max(a.job_id) AS job_id,
                           (array_agg(a.reason ORDER BY a.job_id DESC))[1] AS reason,
                           (array_agg(a.subject ORDER BY a.job_id DESC))[1] AS subject
                    FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) AS a(kind, job_id, reason, subject)
                    GROUP BY a.kind) g),
            opened AS MATERIALIZED (
              SELECT a.id, about.kind
              FROM about
              CROSS JOIN LATERAL (
                SELECT id
                FROM rowlock_alert
                WHERE cause = $1 AND kind = about.kind AND bucket >= date_trunc('hour', statement_timestamp(), 'UTC')
                  AND acknowledged_at IS NULL
                ORDER BY bucket
                LIMIT 1
                FOR NO KEY UPDATE SKIP LOCKED) a),
            counted AS (
              UPDATE rowlock_alert
              SET n = rowlock_alert.n + about.n, last_at = clock_timestamp(), job_id = about.job_id, reason = about.reason,
                  subject = about.subject,
                  untold = rowlock_alert.untold OR rowlock_alert.n + about.n >= rowlock_alert.tell_at
              FROM about
              WHERE rowlock_alert.id = ANY(ARRAY(SELECT id FROM opened)) AND rowlock_alert.kind = about.kind)
            INSERT INTO rowlock_alert (cause, kind, bucket, n, job_id, reason, subject)
            SELECT $1, about.kind,
                   CASE WHEN EXISTS (SELECT 1 FROM rowlock_alert taken
                                     WHERE taken.cause = $1 AND taken.kind = about.kind
                                       AND taken.bucket = date_trunc('hour', statement_timestamp(), 'UTC'))
                        THEN statement_timestamp() ELSE date_trunc('hour', statement_timestamp(), 'UTC') END,
                   about.n, about.job_id, about.reason, about.subject
            FROM about
            WHERE about.kind <> ALL(ARRAY(SELECT kind FROM opened))
            ORDER BY about.kind
            ON CONFLICT (cause, kind, bucket) DO UPDATE
            SET n = rowlock_alert.n + excluded.n, last_at = clock_timestamp(), job_id = excluded.job_id,
                reason = excluded.reason, subject = excluded.subject, acknowledged_at = NULL, acknowledged_by = NULL, acknowledged_why = NULL,
                untold = rowlock_alert.untold OR rowlock_alert.acknowledged_at IS NOT NULL
                         OR rowlock_alert.n + excluded.n >= rowlock_alert.tell_at
            RETURNING id, kind, n, reason, xmax = 0 AS made
            """;

    private final Sql raise;

    public AlertSql(Names names) {
        this.raise = new Sql(names, RAISE);
    }

    /** What an alert is about; job 0: about none; subject null: that of the job, empty: its words are about none. */
    public record Cause(
            String kind,
            long jobId,
            String reason,
            @Nullable String subject) {
        /** Of words that no job and no application has a part in. */
        public Cause(String kind, long jobId, String reason) {
            this(kind, jobId, reason, "");
        }
    }

    /** Gives the rows that were made, to be told when the transaction is committed. */
    public List<AlertRaised> raise(Connection connection, AlertCause cause, List<Cause> about) throws SQLException {
        record Row(AlertRaised event, boolean made) {}
        return raise
                .query(
                        connection,
                        row -> new Row(
                                new AlertRaised(
                                        row.getLong("id"),
                                        cause.text(),
                                        row.getString("kind"),
                                        row.getLong("n"),
                                        row.getString("reason")),
                                row.getBoolean("made")),
                        cause.text(),
                        Sql.texts(about.stream().map(Cause::kind).toList()),
                        Sql.bigints(about.stream().map(Cause::jobId).toList()),
                        Sql.texts(about.stream().map(Cause::reason).toList()),
                        Sql.texts(Sql.column(about, Cause::subject)))
                .stream()
                .filter(Row::made)
                .map(Row::event)
                .toList();
    }
}
