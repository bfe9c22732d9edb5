package io.rowlock.internal.sql;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes new jobs, in the caller's transaction. */
public final class EnqueueSql {
    /*
     * Locks: only the new rows. Isolation: any. Rows: as many as the payloads, in their order: the arrays are opened side
     * by side in the select list, a shorter one goes on as NULL, and nothing stands between that and the insert, so ids
     * rise with the position. A column that is NULL in all rows may be an empty array.
     * run_at never lies in the past (then a claim could have its watermark beyond it) and never comes from now(), which
     * is the time the transaction began.
     * Trap: the same arrays in FROM are written down first, one by one, and sorted afterwards: a quarter more for one row,
     * a tenth more for a hundred (docs/decisions/022).
     */
    static final String ENQUEUE = """
            /* rowlock:enqueue */
            INSERT INTO rowlock_job (queue, kind, priority, subject, payload, headers, max_attempts, ordering_key, limit_key, run_at)
            SELECT n.queue, n.kind, n.priority, n.subject, n.payload::json, n.headers::json, n.max_attempts, n.ordering_key,
                   n.limit_key,
                   greatest(clock_timestamp(), n.run_at, clock_timestamp() + n.delay * interval '1 microsecond')
            FROM (SELECT unnest($1::text[]) AS queue, unnest($2::text[]) AS kind, unnest($3::integer[]) AS priority,
                         unnest($4::text[]) AS subject, unnest($5::text[]) AS payload, unnest($6::text[]) AS headers,
                         unnest($7::integer[]) AS max_attempts, unnest($8::text[]) AS ordering_key,
                         unnest($9::text[]) AS limit_key, unnest($10::timestamptz[]) AS run_at,
                         unnest($11::bigint[]) AS delay) n
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
                Sql.texts(given(jobs, NewJob::subject)),
                Sql.texts(Sql.column(jobs, NewJob::payload)),
                Sql.texts(given(jobs, NewJob::headers)),
                Sql.integers(given(jobs, NewJob::maxAttempts)),
                Sql.texts(given(jobs, job -> job.keys().ordering())),
                Sql.texts(given(jobs, job -> job.keys().limit())),
                Sql.instants(given(jobs, job -> job.due().at())),
                Sql.bigints(given(jobs, job -> micros(job.due().after()))));
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

    /** A column's values; none where all of them are null, which is what the statement makes of none. */
    private static <V> List<@Nullable V> given(List<NewJob> jobs, Function<NewJob, ? extends @Nullable V> value) {
        List<@Nullable V> values = Sql.column(jobs, value);
        return values.stream().allMatch(Objects::isNull) ? List.of() : values;
    }

    static @Nullable Long micros(@Nullable Duration delay) {
        return delay == null ? null : Sql.micros(delay);
    }
}
