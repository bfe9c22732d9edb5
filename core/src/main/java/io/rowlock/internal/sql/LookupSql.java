package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads jobs and failures. No locks; each at most 1,000 rows. */
public final class LookupSql {
    private static final String COLUMNS = """
            SELECT id, kind, queue, state, subject, payload::text AS payload, headers::text AS headers,
                   priority, run_at, attempts, losses, max_attempts, last_error, created_at, finished_at,
                   locked_by, locked_until, token
            FROM rowlock_job
            """;

    /* The primary key. */
    static final String BY_ID = "/* rowlock:job-by-id */ " + COLUMNS + " WHERE id = ?";

    /* The subject index, in its order. */
    static final String BY_SUBJECT =
            "/* rowlock:jobs-by-subject */ " + COLUMNS + " WHERE subject = ? ORDER BY id LIMIT 1000";

    /* No index: for small tables. */
    static final String BY_KIND = "/* rowlock:jobs-by-kind */ " + COLUMNS + " WHERE kind = ? ORDER BY id LIMIT 1000";

    static final String COUNTS = "/* rowlock:job-counts */ SELECT state, count(*) AS n FROM rowlock_job GROUP BY state";

    static final String FAILURES = """
            /* rowlock:failures */
            SELECT job_id, attempt, at, worker, error_class, message, stack
            FROM rowlock_job_failure WHERE job_id = ? ORDER BY attempt, at LIMIT 1000
            """;

    private final Names names;

    public LookupSql(Names names) {
        this.names = names;
    }

    /** A row of the job table as it stands there. */
    public record JobRow(Identity identity, Contents contents, Course course, Held held) {
        /** What the job is. */
        public record Identity(
                long id,
                String kind,
                String queue,
                String state,
                @Nullable String subject) {}

        /** What was written with it. */
        public record Contents(String payload, @Nullable String headers) {}

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

    /** A row of the failure table. */
    public record FailureRow(
            long jobId, int attempt, Instant at, String worker, String errorClass, String message, String stack) {}

    /** How many rows have a state. */
    public record StateCount(String state, long n) {}

    public List<JobRow> byId(Connection connection, long id) throws SQLException {
        return Statements.query(connection, names.apply(BY_ID), LookupSql::job, id);
    }

    public List<JobRow> bySubject(Connection connection, String subject) throws SQLException {
        return Statements.query(connection, names.apply(BY_SUBJECT), LookupSql::job, subject);
    }

    public List<JobRow> byKind(Connection connection, String kind) throws SQLException {
        return Statements.query(connection, names.apply(BY_KIND), LookupSql::job, kind);
    }

    public List<StateCount> counts(Connection connection) throws SQLException {
        return Statements.query(
                connection, names.apply(COUNTS), row -> new StateCount(row.getString("state"), row.getLong("n")));
    }

    public List<FailureRow> failures(Connection connection, long id) throws SQLException {
        return Statements.query(
                connection,
                names.apply(FAILURES),
                row -> new FailureRow(
                        row.getLong("job_id"),
                        row.getInt("attempt"),
                        required(row, "at"),
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
                new JobRow.Contents(row.getString("payload"), row.getString("headers")),
                new JobRow.Course(
                        row.getInt("priority"),
                        required(row, "run_at"),
                        row.getInt("attempts"),
                        row.getInt("losses"),
                        row.getObject("max_attempts", Integer.class),
                        row.getString("last_error"),
                        required(row, "created_at"),
                        Statements.instant(row, "finished_at")),
                new JobRow.Held(
                        row.getString("locked_by"), Statements.instant(row, "locked_until"), row.getLong("token")));
    }

    private static Instant required(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(Statements.instant(row, column), column);
    }
}
