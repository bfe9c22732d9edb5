package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads jobs and failures. No locks; each at most 1,000 rows. What a job carries is read by a statement of its own. */
public final class LookupSql {
    private static final String COLUMNS = """
            SELECT id, kind, queue, state, subject, priority, run_at, attempts, losses, max_attempts, last_error,
                   created_at, finished_at, locked_by, locked_until, token
            FROM rowlock_job
            """;

    /* The primary key. */
    static final String BY_ID = "/* rowlock:job-by-id */ " + COLUMNS + " WHERE id = $1";

    /* The primary key. */
    static final String BY_IDS = "/* rowlock:jobs-by-ids */ " + COLUMNS + " WHERE id = ANY($1::bigint[])";

    /* The primary key. */
    static final String CONTENT =
            "/* rowlock:job-content */ SELECT payload::text AS payload, headers::text AS headers FROM rowlock_job WHERE id = $1";

    /* The subject index, in its order. */
    static final String BY_SUBJECT =
            "/* rowlock:jobs-by-subject */ " + COLUMNS + " WHERE subject = $1 ORDER BY id LIMIT 1000";

    /* No index: for small tables. */
    static final String BY_KIND =
            "/* rowlock:jobs-by-kind */ " + COLUMNS + " WHERE kind = ANY($1::text[]) ORDER BY id LIMIT 1000";

    static final String COUNTS = "/* rowlock:job-counts */ SELECT state, count(*) AS n FROM rowlock_job GROUP BY state";

    static final String FAILURES = """
            /* rowlock:failures */
            SELECT job_id, attempt, at, worker, error_class, message, stack
            FROM rowlock_job_failure WHERE job_id = $1 ORDER BY attempt, at LIMIT 1000
            """;

    private final Names names;

    public LookupSql(Names names) {
        this.names = names;
    }

    /** A row of the job table as it stands there. */
    public record JobRow(Identity identity, Course course, Held held) {
        /** What the job is. */
        public record Identity(
                long id,
                String kind,
                String queue,
                String state,
                @Nullable String subject) {}

        /** How it went. */
        public record Course(
                int priority,
                Instant runAt,
                int attempts,
                int losses,
                @Nullable Integer maxAttempts,
                @Nullable String lastError,
                Instant createdAt,
                @Nullable Instant finishedAt) {}

        /** Who works on it. */
        public record Held(@Nullable String owner, @Nullable Instant until, long token) {}
    }

    /** What was written with a job. */
    public record Contents(String payload, @Nullable String headers) {}

    /** A row of the failure table. */
    public record FailureRow(
            long jobId, int attempt, Instant at, String worker, String errorClass, String message, String stack) {}

    /** How many rows have a state. */
    public record StateCount(String state, long n) {}

    public List<JobRow> byId(Connection connection, long id) throws SQLException {
        return new Sql(names, BY_ID).query(connection, LookupSql::job, id);
    }

    public List<JobRow> byIds(Connection connection, Collection<Long> ids) throws SQLException {
        return ids.isEmpty() ? List.of() : new Sql(names, BY_IDS).query(connection, LookupSql::job, Sql.bigints(ids));
    }

    public Optional<Contents> content(Connection connection, long id) throws SQLException {
        return new Sql(names, CONTENT)
                .query(connection, row -> new Contents(row.getString("payload"), row.getString("headers")), id).stream()
                        .findFirst();
    }

    public List<JobRow> bySubject(Connection connection, String subject) throws SQLException {
        return new Sql(names, BY_SUBJECT).query(connection, LookupSql::job, subject);
    }

    public List<JobRow> byKind(Connection connection, List<String> kinds) throws SQLException {
        return new Sql(names, BY_KIND).query(connection, LookupSql::job, Sql.texts(kinds));
    }

    public List<StateCount> counts(Connection connection) throws SQLException {
        return new Sql(names, COUNTS)
                .query(connection, row -> new StateCount(row.getString("state"), row.getLong("n")));
    }

    public List<FailureRow> failures(Connection connection, long id) throws SQLException {
        return new Sql(names, FAILURES)
                .query(
                        connection,
                        row -> new FailureRow(
                                row.getLong("job_id"),
                                row.getInt("attempt"),
                                Sql.requiredInstant(row, "at"),
                                row.getString("worker"),
                                row.getString("error_class"),
                                row.getString("message"),
                                row.getString("stack")),
                        id);
    }

    private static JobRow job(ResultSet row) throws SQLException {
        return new JobRow(
                new JobRow.Identity(
                        row.getLong("id"),
                        row.getString("kind"),
                        row.getString("queue"),
                        row.getString("state"),
                        row.getString("subject")),
                new JobRow.Course(
                        row.getInt("priority"),
                        Sql.requiredInstant(row, "run_at"),
                        row.getInt("attempts"),
                        row.getInt("losses"),
                        row.getObject("max_attempts", Integer.class),
                        row.getString("last_error"),
                        Sql.requiredInstant(row, "created_at"),
                        Sql.instant(row, "finished_at")),
                new JobRow.Held(row.getString("locked_by"), Sql.instant(row, "locked_until"), row.getLong("token")));
    }
}
