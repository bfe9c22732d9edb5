package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;

/** Takes out what finished sagas say of a subject. */
public final class RedactSql {
    /*
     * No lock. A child counts as unfinished until its parent is finished, which has yet to read it; a finished one stays so.
     * Index: rowlock_saga_subject, rowlock_saga_business_key, for the parents the primary key, one by one. Rows: all sagas of
     * the subject.
     */
    static final String OF_SUBJECT = """
            /* rowlock:sagas-about */
            SELECT id,
                   finished_at IS NOT NULL AND (
                     SELECT parent.finished_at IS NULL FROM rowlock_saga parent WHERE parent.id = about.parent) IS NOT TRUE AS finished
            FROM (
              SELECT id, finished_at, parent FROM rowlock_saga WHERE subject = $1
              UNION
              SELECT id, finished_at, parent FROM rowlock_saga WHERE business_key = $1) about
            ORDER BY id
            """;

    /* Skips what somebody has locked. A finished saga stays so. Index: the primary key. */
    static final String LOCK = """
            /* rowlock:lock-finished-sagas */
            SELECT id
            FROM rowlock_saga
            WHERE id = ANY($1::text[]) AND finished_at IS NOT NULL
            ORDER BY id
            FOR NO KEY UPDATE SKIP LOCKED
            """;

    /* Those that are there at all: the others were deleted meanwhile. Index: the primary key. */
    static final String LEFT = "/* rowlock:sagas-left */ SELECT id FROM rowlock_saga WHERE id = ANY($1::text[])";

    /*
     * Only rows that are locked, and what belongs to them: its place stays, as only who has the saga locked moves it. Index: the
     * primary keys, rowlock_saga_signal_saga, saga by saga, as for all at once the planner may walk the tables.
     */
    static final String REDACT = """
            /* rowlock:redact-sagas */
            WITH signals AS (
              UPDATE rowlock_saga_signal SET payload = '{}' WHERE id = ANY(ARRAY(
                SELECT s.id
                FROM unnest($1::text[]) AS about(id)
                CROSS JOIN LATERAL (SELECT id FROM rowlock_saga_signal WHERE saga = about.id OFFSET 0) s))),
            steps AS (
              UPDATE rowlock_saga_step SET result = NULL, error = NULL WHERE ctid = ANY(ARRAY(
                SELECT s.ctid
                FROM unnest($1::text[]) AS about(id)
                CROSS JOIN LATERAL (SELECT ctid FROM rowlock_saga_step WHERE saga = about.id OFFSET 0) s))),
            noted AS (
              INSERT INTO rowlock_operation (who, why, what, saga)
              SELECT $2, $3, 'redact', about.id FROM unnest($1::text[]) AS about(id))
            UPDATE rowlock_saga
            SET state = '{}', first_state = NULL, reason = NULL, cancel_reason = CASE WHEN cancel_reason IS NOT NULL THEN 'redacted' END
            WHERE id = ANY($1::text[])
            """;

    private final Sql ofSubject;
    private final Sql lock;
    private final Sql left;
    private final Sql redact;

    public RedactSql(Names names) {
        this.ofSubject = new Sql(names, OF_SUBJECT);
        this.lock = new Sql(names, LOCK);
        this.left = new Sql(names, LEFT);
        this.redact = new Sql(names, REDACT);
    }

    /** A saga about a subject. */
    public record About(String id, boolean finished) {}

    public List<About> ofSubject(Connection connection, String subject) throws SQLException {
        return ofSubject.query(connection, row -> new About(row.getString("id"), row.getBoolean("finished")), subject);
    }

    /** Those of the sagas that are finished and locked now. */
    public List<String> lock(Connection connection, Collection<String> ids) throws SQLException {
        return lock.query(connection, row -> row.getString("id"), Sql.texts(ids));
    }

    /** Those of the sagas that are there. */
    public List<String> left(Connection connection, Collection<String> ids) throws SQLException {
        return left.query(connection, row -> row.getString("id"), Sql.texts(ids));
    }

    /** Redacts sagas that are locked. */
    public int redact(Connection connection, Collection<String> locked, By by) throws SQLException {
        return redact.update(connection, Sql.texts(locked), by.who(), by.why());
    }
}
