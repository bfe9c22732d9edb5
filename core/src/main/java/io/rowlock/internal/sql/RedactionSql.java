package io.rowlock.internal.sql;

import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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

    /* Locks: the alerts, in the order of their ids, waited for. Index: rowlock_alert_job, job by job; the primary key. */
    static final String ALERTS = """
            /* rowlock:redact-alerts */
            WITH about AS MATERIALIZED (
              SELECT a.id
              FROM unnest($1::bigint[]) AS job(id)
              CROSS JOIN LATERAL (SELECT id FROM rowlock_alert WHERE job_id = job.id OFFSET 0) a),
            locked AS MATERIALIZED (
              SELECT id FROM rowlock_alert WHERE id = ANY(ARRAY(SELECT id FROM about)) ORDER BY id FOR NO KEY UPDATE)
            UPDATE rowlock_alert
            SET reason = 'redacted'
            WHERE id = ANY(ARRAY(SELECT id FROM locked)) AND (job_id = ANY($1::bigint[])) IS TRUE
            """;

    private final Sql ofSubject;
    private final Sql redact;
    private final Sql alerts;

    public RedactionSql(Names names) {
        this.ofSubject = new Sql(names, OF_SUBJECT);
        this.redact = new Sql(names, REDACT);
        this.alerts = new Sql(names, ALERTS);
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
        Set<Long> done =
                new HashSet<>(redact.query(connection, row -> row.getLong("id"), Sql.bigints(ids), by.who(), by.why()));
        if (!done.isEmpty()) {
            alerts.update(connection, Sql.bigints(done));
        }
        return done;
    }
}
