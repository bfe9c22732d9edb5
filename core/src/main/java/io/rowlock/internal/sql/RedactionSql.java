package io.rowlock.internal.sql;

import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Takes out what finished jobs of a subject carry, and what alerts say of them. */
public final class RedactionSql {
    /* No lock. Index: rowlock_job_subject, in its order, behind $2. Rows: at most $3. */
    static final String OF_SUBJECT = """
            /* rowlock:jobs-about */
            SELECT id, kind, queue, finished_at IS NOT NULL AS finished, redacted_at IS NOT NULL AS redacted
            FROM rowlock_job
            WHERE subject = $1 AND id > $2
            ORDER BY id
            LIMIT $3
            """;

    /*
     * Locks: the jobs, skipping what is locked, then their failures. One that is finished may be revived until it is locked; then
     * it no longer can. Indexes: the primary key, rowlock_job_failure_job, job by job. Rows: those given and their failures.
     */
    static final String REDACT = """
            /* rowlock:redact-jobs */
            WITH locked AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY($1::bigint[]) AND (finished_at IS NOT NULL) IS TRUE AND redacted_at IS NULL
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            failures AS (
              UPDATE rowlock_job_failure
              SET message = 'redacted', stack = 'redacted'
              WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM locked
                CROSS JOIN LATERAL (SELECT ctid FROM rowlock_job_failure WHERE job_id = locked.id FOR UPDATE) f))),
            noted AS (
              INSERT INTO rowlock_operation (who, why, what, job_id) SELECT $2, $3, 'redact', id FROM locked)
            UPDATE rowlock_job
            SET payload = '{}', headers = NULL, redacted_at = clock_timestamp(),
                last_error = CASE WHEN last_error IS NOT NULL THEN 'redacted' END
            WHERE id = ANY(ARRAY(SELECT id FROM locked))
            RETURNING id
            """;

    /*
     * No lock. Indexes: rowlock_alert_job, job by job; or rowlock_alert_subject, in its order, behind $4; then the primary key of jobs.
     * Rows: those of the jobs given, and of the subject at most $5. A row that was written by the version before has no subject,
     * or one of an earlier job, and is found by its job.
     */
    static final String ALERTS = """
            /* rowlock:alerts-about */
            WITH about AS MATERIALIZED (
              SELECT a.id
              FROM unnest($2::bigint[]) AS job(id)
              CROSS JOIN LATERAL (SELECT id FROM rowlock_alert WHERE job_id = job.id AND subject IS DISTINCT FROM $1 AND reason <> $3
                                  OFFSET 0) a
              UNION
              (SELECT id
               FROM rowlock_alert
               WHERE subject = $1 AND id > $4 AND reason <> $3
               ORDER BY subject, id
               LIMIT $5))
            SELECT alert.id, alert.kind, alert.job_id, (SELECT queue FROM rowlock_job WHERE id = alert.job_id) AS queue
            FROM rowlock_alert alert
            WHERE alert.id = ANY(ARRAY(SELECT id FROM about))
            ORDER BY alert.id
            """;

    /*
     * Locks: the alerts, in the order of their ids, skipping what is locked. One that was counted up meanwhile may be about somebody
     * else by now. Index: the primary key. Rows: those given.
     */
    static final String REDACT_ALERTS = """
            /* rowlock:redact-alerts */
            WITH locked AS MATERIALIZED (
              SELECT id
              FROM rowlock_alert
              WHERE id = ANY($1::bigint[])
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            redacted AS (
              UPDATE rowlock_alert
              SET reason = $6
              WHERE id = ANY(ARRAY(SELECT id FROM locked)) AND (subject = $2 OR job_id = ANY($3::bigint[])) IS TRUE
              RETURNING id),
            noted AS (
              INSERT INTO rowlock_operation (who, why, what, alert) SELECT $4, $5, 'redact', id FROM redacted ORDER BY id)
            SELECT id, id IN (SELECT id FROM redacted) AS redacted FROM locked
            """;

    private static final String GONE = "redacted";

    private final Sql ofSubject;
    private final Sql redact;
    private final Sql alerts;
    private final Sql redactAlerts;

    public RedactionSql(Names names) {
        this.ofSubject = new Sql(names, OF_SUBJECT);
        this.redact = new Sql(names, REDACT);
        this.alerts = new Sql(names, ALERTS);
        this.redactAlerts = new Sql(names, REDACT_ALERTS);
    }

    /** A job about a subject. */
    public record About(long id, String kind, String queue, boolean finished, boolean redacted) {}

    /** The next jobs behind an id, at most so many. */
    public List<About> ofSubject(Connection connection, String subject, long after, int most) throws SQLException {
        return ofSubject.query(
                connection,
                row -> new About(
                        row.getLong("id"),
                        row.getString("kind"),
                        row.getString("queue"),
                        row.getBoolean("finished"),
                        row.getBoolean("redacted")),
                subject,
                after,
                most);
    }

    /** Redacts those of the jobs that are finished and free, in a transaction; gives their ids. */
    public Set<Long> redact(Connection connection, Collection<Long> ids, By by) throws SQLException {
        return new HashSet<>(redact.query(connection, row -> row.getLong("id"), Sql.bigints(ids), by.who(), by.why()));
    }

    /**
     * An alert that says something of a subject.
     *
     * @param job the last one it happened to, or 0
     * @param queue the job's; null: it has none, or its row is gone
     */
    public record Said(
            long id, String kind, long job, @Nullable String queue) {}

    /** Alerts that still say something: of these jobs, and the next ones of the subject behind an id, at most so many. */
    public List<Said> alerts(Connection connection, String subject, Collection<Long> jobs, long after, int most)
            throws SQLException {
        return alerts.query(
                connection,
                row -> new Said(
                        row.getLong("id"), row.getString("kind"), row.getLong("job_id"), row.getString("queue")),
                subject,
                Sql.bigints(jobs),
                GONE,
                after,
                most);
    }

    /** Takes the words out of those that are free and still about the subject or the jobs; gives all that were free, and whether they were. */
    public Map<Long, Boolean> redactAlerts(
            Connection connection, Collection<Long> ids, String subject, Collection<Long> jobs, By by)
            throws SQLException {
        record Row(long id, boolean redacted) {}
        Map<Long, Boolean> free = new HashMap<>();
        redactAlerts
                .query(
                        connection,
                        row -> new Row(row.getLong("id"), row.getBoolean("redacted")),
                        Sql.bigints(ids),
                        subject,
                        Sql.bigints(jobs),
                        by.who(),
                        by.why(),
                        GONE)
                .forEach(row -> free.put(row.id(), row.redacted()));
        return free;
    }
}
