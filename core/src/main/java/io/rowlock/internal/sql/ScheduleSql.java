package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How schedules fire: any worker, any schedule. Locks: the schedule's row, before rows of jobs and alerts; the engine skips
 * what is locked. READ COMMITTED.
 */
public final class ScheduleSql {
    /*
     * What is due, and when the next one is. A transaction of its own. Locks: none. Index: rowlock_schedule_due, in its
     * order. Rows: at most $2. The bounds keep an infinite instant from being subtracted.
     */
    static final String LOOK = """
            /* rowlock:look-at-schedules */
            SELECT name, greatest(next_at, retry_at) <= statement_timestamp() AS due,
                   greatest(next_at, retry_at) < statement_timestamp() - interval '5 minutes' AS overdue,
                   (extract(epoch FROM least(greatest(next_at, retry_at, statement_timestamp()),
                                             statement_timestamp() + interval '1 minute') - statement_timestamp())
                     * 1000000)::bigint AS wait_micros
            FROM rowlock_schedule
            WHERE next_at IS NOT NULL AND paused_at IS NULL AND removed_at IS NULL AND name <> ALL($1::text[])
            ORDER BY greatest(next_at, retry_at)
            LIMIT $2
            """;

    /*
     * Locks: the row, until the jobs are committed. Index: the primary key; by coalesce, or the whole of rowlock_schedule_due
     * would be read where there are no statistics. Rows: one, or none if another fires it.
     */
    static final String LOCK = """
            /* rowlock:lock-schedule */
            SELECT cron, zone, (extract(epoch FROM every) * 1000000)::bigint AS every_micros,
                   (extract(epoch FROM delay) * 1000000)::bigint AS delay_micros,
                   kind, payload, queue, priority, subject, misfire, overlap, next_at, last_job, clock_timestamp() AS now
            FROM rowlock_schedule
            WHERE name = $1 AND coalesce(next_at <= clock_timestamp(), false) AND ($2::boolean OR retry_at IS NULL OR retry_at <= clock_timestamp())
              AND paused_at IS NULL AND removed_at IS NULL
            FOR NO KEY UPDATE SKIP LOCKED
            """;

    /*
     * Those that people have run since the last job: each has an operation, written in its transaction. Of a schedule's
     * operations at most the last 100 are read. Index: rowlock_operation_schedule_id, backwards. The planner's trap: with
     * schedule = $1 the order is by id alone, and it walks back over everybody's operations by the primary key.
     */
    private static String made(String schedule, String lastJob) {
        return """
                (SELECT %2$s AS id
                 UNION ALL
                 SELECT run.job_id
                 FROM (SELECT o.what, o.job_id FROM rowlock_operation o WHERE o.schedule >= %1$s AND o.schedule <= %1$s
                       ORDER BY o.schedule DESC, o.id DESC LIMIT 100) AS run
                 WHERE run.what = 'run now' AND run.job_id > %2$s) AS made
                """.formatted(schedule, lastJob);
    }

    /*
     * After LOCK, in a statement of its own: what the last holder of the row wrote is seen. Indexes: of made; the primary key
     * of jobs, by a subquery that no join can be made of. Rows: one, or none.
     */
    static final String UNFINISHED = """
            /* rowlock:unfinished-job-of-schedule */
            SELECT 1
            FROM %s
            WHERE (SELECT j.state IN ('ready', 'parked') FROM rowlock_job j WHERE j.id = made.id)
            LIMIT 1
            """.formatted(made("$1::text", "$2::bigint"));

    /* In the transaction of the jobs, under LOCK. So an instant fires once, whoever dies when. Rows: one. */
    static final String ADVANCE = """
            /* rowlock:advance-schedule */
            UPDATE rowlock_schedule
            SET next_at = $3::timestamptz, last_at = coalesce($4::timestamptz, last_at), last_job = coalesce($5::bigint, last_job),
                failures = 0, retry_at = NULL, error = NULL, updated_at = clock_timestamp()
            WHERE name = $1 AND next_at = $2::timestamptz
            """;

    /*
     * Fixed delays whose jobs have finished, or are gone: the next instant counts from the end of the last. Locks: their rows,
     * of those that nobody has changed since they were looked at. Indexes: rowlock_schedule_waiting; per row those of made,
     * and the primary keys of schedule and job, by subqueries that no join can be made of. Rows: at most 1,000; gives how many
     * still wait.
     */
    static final String END_DELAYS = """
            /* rowlock:end-delays-of-schedules */
            WITH waiting AS MATERIALIZED (
              SELECT w.name, w.updated_at, jobs.ended, jobs.ended_at
              FROM (SELECT name, last_job, updated_at FROM rowlock_schedule
                    WHERE next_at IS NULL AND paused_at IS NULL AND removed_at IS NULL LIMIT 1000) AS w
              CROSS JOIN LATERAL (
                SELECT bool_and(one.ended) AS ended,
                       CASE WHEN bool_and(one.ended_at IS NOT NULL) THEN max(one.ended_at) END AS ended_at
                FROM (
                  SELECT coalesce((SELECT j.state NOT IN ('ready', 'parked') FROM rowlock_job j WHERE j.id = made.id), true) AS ended,
                         (SELECT j.finished_at FROM rowlock_job j WHERE j.id = made.id) AS ended_at
                  FROM %s) AS one) AS jobs),
            locked AS MATERIALIZED (
              SELECT s.name
              FROM rowlock_schedule s
              WHERE s.name = ANY(ARRAY(SELECT name FROM waiting WHERE ended)) AND s.next_at IS NULL
                AND s.updated_at = (SELECT w.updated_at FROM waiting w WHERE w.name = s.name)
              ORDER BY s.name
              FOR NO KEY UPDATE SKIP LOCKED),
            moved AS (
              UPDATE rowlock_schedule s
              SET next_at = coalesce((SELECT w.ended_at FROM waiting w WHERE w.name = s.name), clock_timestamp())
                            + coalesce(s.delay, interval '0')
              WHERE s.name = ANY(ARRAY(SELECT name FROM locked))
              RETURNING 1)
            SELECT (SELECT count(*) FROM waiting) - (SELECT count(*) FROM moved) AS waiting
            """.formatted(made("w.name", "w.last_job"));

    /* The instant stays; it is tried again after a while that doubles. Locks: the row. Index: the primary key. */
    static final String FAILED = """
            /* rowlock:schedule-failed */
            UPDATE rowlock_schedule
            SET failures = failures + 1, error = $2, updated_at = clock_timestamp(),
                retry_at = clock_timestamp() + least(10 * 2 ^ least(failures, 10), 3600) * interval '1 second'
            WHERE name = $1 AND coalesce(next_at <= clock_timestamp(), false) AND (retry_at IS NULL OR retry_at <= clock_timestamp())
              AND paused_at IS NULL AND removed_at IS NULL
            """;

    /* Says why without keeping others from it. Skips a locked row. Index: the primary key. */
    static final String NOTE_ERROR = """
            /* rowlock:note-error-of-schedule */
            UPDATE rowlock_schedule SET error = $2
            WHERE name = ANY(ARRAY(SELECT name FROM rowlock_schedule WHERE name = $1 FOR NO KEY UPDATE SKIP LOCKED))
            """;

    private final Sql look;
    private final Sql lock;
    private final Sql unfinished;
    private final Sql advance;
    private final Sql endDelays;
    private final Sql failed;
    private final Sql noteError;

    public ScheduleSql(Names names) {
        this.look = new Sql(names, LOOK);
        this.lock = new Sql(names, LOCK);
        this.unfinished = new Sql(names, UNFINISHED);
        this.advance = new Sql(names, ADVANCE);
        this.endDelays = new Sql(names, END_DELAYS);
        this.failed = new Sql(names, FAILED);
        this.noteError = new Sql(names, NOTE_ERROR);
    }

    /** A schedule in the order of its next instant: whether it is due, or overdue, and else how far away that is. */
    public record Seen(String name, boolean due, boolean overdue, Duration distance) {}

    /** The timing's columns, of which the row has one. */
    public record TimingColumns(
            @Nullable String cron,
            @Nullable String zone,
            @Nullable Duration every,
            @Nullable Duration delay) {}

    /** What the jobs are made of. */
    public record JobColumns(String kind, String payload, String queue, int priority, String subject) {}

    /** A due schedule, locked; now is the database's clock. */
    public record Locked(
            String name,
            TimingColumns timing,
            JobColumns job,
            String misfire,
            String overlap,
            Instant nextAt,
            @Nullable Long lastJob,
            Instant now) {}

    /** Where a schedule goes on from an instant. Null: no further instant yet; no instant that made a job; no job. */
    public record Advance(
            @Nullable Instant nextAt,
            @Nullable Instant lastAt,
            @Nullable Long lastJob) {}

    public List<Seen> look(Connection connection, Collection<String> but, int most) throws SQLException {
        return look.query(
                connection,
                row -> new Seen(
                        row.getString("name"),
                        row.getBoolean("due"),
                        row.getBoolean("overdue"),
                        Sql.duration(row.getLong("wait_micros"))),
                Sql.texts(but),
                most);
    }

    /** Empty if it is not due any more, or locked. */
    public Optional<Locked> lock(Connection connection, String name, boolean atOnce) throws SQLException {
        return lock
                .query(
                        connection,
                        row -> new Locked(
                                name,
                                timing(row),
                                job(row),
                                row.getString("misfire"),
                                row.getString("overlap"),
                                Sql.requiredInstant(row, "next_at"),
                                row.getObject("last_job", Long.class),
                                Sql.requiredInstant(row, "now")),
                        name,
                        atOnce)
                .stream()
                .findFirst();
    }

    static TimingColumns timing(ResultSet row) throws SQLException {
        return new TimingColumns(
                row.getString("cron"),
                row.getString("zone"),
                interval(row, "every_micros"),
                interval(row, "delay_micros"));
    }

    static JobColumns job(ResultSet row) throws SQLException {
        return new JobColumns(
                row.getString("kind"),
                row.getString("payload"),
                row.getString("queue"),
                row.getInt("priority"),
                row.getString("subject"));
    }

    private static @Nullable Duration interval(ResultSet row, String column) throws SQLException {
        Long micros = row.getObject(column, Long.class);
        return micros == null ? null : Sql.duration(micros);
    }

    /** Whether the last job, or one that a person has run since, is not finished. */
    public boolean unfinished(Connection connection, String name, long lastJob) throws SQLException {
        return !unfinished.query(connection, row -> true, name, lastJob).isEmpty();
    }

    /** False if the schedule does not stand at that instant any more. */
    public boolean advance(Connection connection, String name, Instant from, Advance to) throws SQLException {
        return advance.update(
                        connection,
                        name,
                        Sql.timestamp(from),
                        Sql.timestamp(to.nextAt()),
                        Sql.timestamp(to.lastAt()),
                        to.lastJob())
                == 1;
    }

    /** Gives how many fixed delays still wait for their jobs. */
    public long endDelays(Connection connection) throws SQLException {
        return endDelays.query(connection, row -> row.getLong("waiting")).get(0);
    }

    /** False if it is not due any more. */
    public boolean failed(Connection connection, String name, String error) throws SQLException {
        return failed.update(connection, name, error) == 1;
    }

    public void noteError(Connection connection, String name, String error) throws SQLException {
        noteError.update(connection, name, error);
    }
}
