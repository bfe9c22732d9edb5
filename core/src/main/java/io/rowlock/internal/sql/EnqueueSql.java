package io.rowlock.internal.sql;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes new jobs, in the caller's transaction. */
public final class EnqueueSql {
    /*
     * Locks: only the new rows. Isolation: any. Rows: as many as the arrays are long, in their order; the identity is
     * drawn after the sort, so ids rise with the position.
     * run_at never lies in the past (then a claim could have its watermark beyond it) and never comes from now(), which
     * is the time the transaction began.
     */
    static final String ENQUEUE = """
            /* rowlock:enqueue */
            INSERT INTO rowlock_job (queue, kind, priority, subject, payload, headers, max_attempts, ordering_key, limit_key, run_at)
            SELECT n.queue, n.kind, n.priority, n.subject, n.payload::json, n.headers::json, n.max_attempts, n.ordering_key,
                   n.limit_key,
                   greatest(clock_timestamp(), n.run_at, clock_timestamp() + n.delay * interval '1 microsecond')
            FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::integer[],
                        $8::text[], $9::text[], $10::timestamptz[], $11::bigint[])
              WITH ORDINALITY AS n(queue, kind, priority, subject, payload, headers, max_attempts, ordering_key, limit_key,
                                   run_at, delay, position)
            ORDER BY n.position
            RETURNING id, run_at
            """;

    private final Sql enqueue;

    public EnqueueSql(Names names) {
        this.enqueue = new Sql(names, ENQUEUE);
    }

    /** A row to be written; all texts are checked. */
    public record NewJob(
            String queue,
            String kind,
            Priority priority,
            @Nullable String subject,
            String payload,
            @Nullable String headers,
            @Nullable Integer maxAttempts,
            Keys keys,
            Due due) {}

    /** What a new job shares with others: its order, its limit. */
    public record Keys(@Nullable String ordering, @Nullable String limit) {
        public boolean any() {
            return ordering != null || limit != null;
        }
    }

    /** When a new job is due: at a time, after a delay, or, with neither, at once. */
    public record Due(@Nullable Instant at, @Nullable Duration after) {}

    /** Inserts the rows in one statement. */
    public List<Enqueued> enqueue(Connection connection, List<NewJob> jobs) throws SQLException {
        record Written(long id, Instant runAt) {}
        List<Written> written = enqueue.query(
                connection,
                row -> new Written(row.getLong("id"), Sql.requiredInstant(row, "run_at")),
                Sql.texts(Sql.column(jobs, NewJob::queue)),
                Sql.texts(Sql.column(jobs, NewJob::kind)),
                Sql.integers(Sql.column(jobs, job -> job.priority().level())),
                Sql.texts(Sql.column(jobs, NewJob::subject)),
                Sql.texts(Sql.column(jobs, NewJob::payload)),
                Sql.texts(Sql.column(jobs, NewJob::headers)),
                Sql.integers(Sql.column(jobs, NewJob::maxAttempts)),
                Sql.texts(Sql.column(jobs, job -> job.keys().ordering())),
                Sql.texts(Sql.column(jobs, job -> job.keys().limit())),
                Sql.instants(Sql.column(jobs, job -> job.due().at())),
                Sql.bigints(Sql.column(jobs, job -> micros(job.due().after()))));
        if (written.size() != jobs.size()) {
            throw new SQLException("The insert wrote " + written.size() + " rows instead of " + jobs.size());
        }
        List<Enqueued> answers = new ArrayList<>(jobs.size());
        for (int i = 0; i < jobs.size(); i++) {
            NewJob job = jobs.get(i);
            Written row = written.get(i);
            answers.add(new Enqueued(
                    row.id(),
                    job.kind(),
                    job.queue(),
                    job.priority(),
                    row.runAt(),
                    job.keys().any(),
                    false));
        }
        return answers;
    }

    static @Nullable Long micros(@Nullable Duration delay) {
        return delay == null ? null : Sql.micros(delay);
    }
}
