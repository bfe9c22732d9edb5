package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Cancels of jobs whose rows their handlers have locked: asked for here, done once the rows are free. READ COMMITTED. */
public final class CancelRequestSql {
    /* Waits for who asks the same. Index: rowlock_cancel_request_pk. */
    static final String REQUEST = """
            /* rowlock:request-cancel */
            INSERT INTO rowlock_cancel_request (job_id, reason) VALUES ($1, $2) ON CONFLICT (job_id) DO NOTHING
            """;

    /* Of a job that is made ready again: what was asked before is not meant for it. Index: rowlock_cancel_request_pk. */
    static final String WITHDRAW = """
            /* rowlock:withdraw-cancel */
            DELETE FROM rowlock_cancel_request WHERE job_id = $1
            """;

    /* No lock. Index: both primary keys; OFFSET 0 keeps it from walking the jobs. Rows: at most $1, as a rule none. */
    static final String PENDING = """
            /* rowlock:requested-cancels */
            SELECT r.job_id, j.queue, j.ordering_key,
                   CASE WHEN j.state IN ('ready', 'parked') THEN j.locked_by IS NULL END AS waiting
            FROM (SELECT job_id FROM rowlock_cancel_request ORDER BY job_id LIMIT $1) r
            LEFT JOIN LATERAL (
              SELECT queue, ordering_key, state, locked_by FROM rowlock_job WHERE id = r.job_id OFFSET 0) j ON true
            """;

    /*
     * Locks: the requests and the waiting jobs, skipping what is locked; the requests first, so that none is met twice and
     * meets a job that was revived in between. What is revived later is due at once: no handler is at work here. Requests for jobs that are finished or gone ($2) go too. Index: the primary keys.
     */
    static final String DO = """
            /* rowlock:do-cancels */
            WITH asked AS MATERIALIZED (
              SELECT job_id
              FROM rowlock_cancel_request
              WHERE job_id = ANY($1::bigint[])
              ORDER BY job_id
              FOR UPDATE SKIP LOCKED),
            waiting AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT job_id FROM asked)) AND state IN ('ready', 'parked') AND locked_by IS NULL
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            cancelled AS (
              UPDATE rowlock_job
              SET state = 'cancelled', finished_at = clock_timestamp(), token = token + 1, waiting_key = NULL,
                  run_at = least(run_at, clock_timestamp()),
                  last_error = (SELECT r.reason FROM rowlock_cancel_request r WHERE r.job_id = rowlock_job.id)
              WHERE id = ANY(ARRAY(SELECT id FROM waiting))
              RETURNING id, queue, kind, last_error)
            DELETE FROM rowlock_cancel_request
            WHERE job_id = ANY(ARRAY(SELECT id FROM waiting))
               OR job_id = ANY($2::bigint[]) AND NOT EXISTS (
                    SELECT 1 FROM rowlock_job WHERE id = job_id AND state IN ('ready', 'parked') OFFSET 0)
            RETURNING job_id, (SELECT c.queue FROM cancelled c WHERE c.id = job_id) AS queue,
                      (SELECT c.kind FROM cancelled c WHERE c.id = job_id) AS kind,
                      (SELECT c.last_error FROM cancelled c WHERE c.id = job_id) AS reason
            """;

    /* No lock. Index: rowlock_cancel_request_pk. */
    static final String ASKED = """
            /* rowlock:asked-cancels */
            SELECT job_id FROM rowlock_cancel_request WHERE job_id = ANY($1::bigint[])
            """;

    private final Sql request;
    private final Sql asked;
    private final Sql withdraw;
    private final Sql pending;
    private final Sql carryOut;

    public CancelRequestSql(Names names) {
        this.request = new Sql(names, REQUEST);
        this.asked = new Sql(names, ASKED);
        this.withdraw = new Sql(names, WITHDRAW);
        this.pending = new Sql(names, PENDING);
        this.carryOut = new Sql(names, DO);
    }

    /** A job that is to be cancelled: its ordering key, and whether it waits, so that it can be; null if it is finished or gone. */
    public record Pending(
            long job, @Nullable OrderingKey key, @Nullable Boolean waiting) {}

    /** A job that was cancelled as it was asked for. */
    public record Done(long job, String queue, String kind, String reason) {}

    /** Asks for a cancel. */
    public void request(Connection connection, long job, String reason) throws SQLException {
        request.update(connection, job, reason);
    }

    /** For which of the jobs a cancel was asked for. */
    public Set<Long> asked(Connection connection, Collection<Long> jobs) throws SQLException {
        return Set.copyOf(asked.query(connection, row -> row.getLong("job_id"), Sql.bigints(jobs)));
    }

    /** Forgets what was asked for a job. */
    public void withdraw(Connection connection, long job) throws SQLException {
        withdraw.update(connection, job);
    }

    /** At most so many of what was asked for. */
    public List<Pending> pending(Connection connection, int most) throws SQLException {
        return pending.query(
                connection,
                row -> {
                    String key = row.getString("ordering_key");
                    return new Pending(
                            row.getLong("job_id"),
                            key == null ? null : new OrderingKey(row.getString("queue"), key),
                            (Boolean) row.getObject("waiting"));
                },
                most);
    }

    /** Cancels waiting jobs, under the locks of their keys, and forgets what was asked for finished ones; which were cancelled. */
    public List<Done> carryOut(Connection connection, Collection<Long> waiting, Collection<Long> finished)
            throws SQLException {
        return carryOut
                .query(
                        connection,
                        row -> {
                            String kind = row.getString("kind");
                            return kind == null
                                    ? Optional.<Done>empty()
                                    : Optional.of(new Done(
                                            row.getLong("job_id"),
                                            row.getString("queue"),
                                            kind,
                                            row.getString("reason")));
                        },
                        Sql.bigints(waiting),
                        Sql.bigints(finished))
                .stream()
                .flatMap(Optional::stream)
                .toList();
    }
}
