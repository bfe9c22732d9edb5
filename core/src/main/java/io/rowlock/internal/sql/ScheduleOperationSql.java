package io.rowlock.internal.sql;

import io.rowlock.internal.sql.ScheduleSql.JobColumns;
import io.rowlock.internal.sql.ScheduleSql.TimingColumns;
import io.rowlock.job.By;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What declarations and people do to schedules. Unlike the engine's, these statements wait for the row's lock, under a lock
 * timeout. READ COMMITTED. Index: the primary key.
 */
public final class ScheduleOperationSql {
    private static final String COLUMNS = """
            SELECT name, revision, cron, zone, (extract(epoch FROM every) * 1000000)::bigint AS every_micros,
                   (extract(epoch FROM delay) * 1000000)::bigint AS delay_micros, kind, payload, queue, priority, subject,
                   misfire, overlap, next_at, last_at, last_job, paused_at, paused_by, removed_at, error,
                   clock_timestamp() AS now
            FROM rowlock_schedule
            """;

    /* Locks: none. */
    static final String FIND = "/* rowlock:find-schedule */\n" + COLUMNS + "WHERE name = $1\n";

    /* Locks: none. Rows: at most $2, in the index's order. */
    static final String PAGE =
            "/* rowlock:page-of-schedules */\n" + COLUMNS + "WHERE name > $1\nORDER BY name\nLIMIT $2\n";

    static final String LOCK =
            "/* rowlock:lock-schedule-to-change */\n" + COLUMNS + "WHERE name = $1\nFOR NO KEY UPDATE\n";

    /* Reads no table. */
    static final String CLOCK = "/* rowlock:clock */ SELECT clock_timestamp() AS now";

    /* Waits for another transaction that declares the same name. Rows: one, or none if it was there. */
    static final String INSERT = """
            /* rowlock:insert-schedule */
            INSERT INTO rowlock_schedule (name, revision, cron, zone, every, delay, kind, payload, queue, priority, subject,
                                          misfire, overlap, next_at)
            VALUES ($1, $2, $3, $4, $5::bigint * interval '1 microsecond', $6::bigint * interval '1 microsecond', $7, $8::json,
                    $9, $10, $11, $12, $13, $14::timestamptz)
            ON CONFLICT (name) DO NOTHING
            """;

    /* Under LOCK. A pause stays. */
    static final String REPLACE = """
            /* rowlock:replace-schedule */
            UPDATE rowlock_schedule
            SET revision = $2, cron = $3, zone = $4, every = $5::bigint * interval '1 microsecond',
                delay = $6::bigint * interval '1 microsecond', kind = $7, payload = $8::json, queue = $9, priority = $10,
                subject = $11, misfire = $12, overlap = $13, next_at = $14::timestamptz, removed_at = NULL, failures = 0,
                retry_at = NULL, error = NULL, updated_at = clock_timestamp()
            WHERE name = $1
            """;

    static final String PAUSE = """
            /* rowlock:pause-schedule */
            UPDATE rowlock_schedule
            SET paused_at = clock_timestamp(), paused_by = $2, updated_at = clock_timestamp()
            WHERE name = $1 AND paused_at IS NULL AND removed_at IS NULL
            """;

    /* Under LOCK. */
    static final String RESUME = """
            /* rowlock:resume-schedule */
            UPDATE rowlock_schedule
            SET paused_at = NULL, paused_by = NULL, next_at = $2::timestamptz, failures = 0, retry_at = NULL, error = NULL,
                updated_at = clock_timestamp()
            WHERE name = $1
            """;

    static final String REMOVE = """
            /* rowlock:remove-schedule */
            UPDATE rowlock_schedule
            SET removed_at = clock_timestamp(), paused_at = NULL, paused_by = NULL, next_at = NULL, failures = 0,
                retry_at = NULL, error = NULL, updated_at = clock_timestamp()
            WHERE name = $1 AND removed_at IS NULL
            """;

    /*
     * Under LOCK, in the transaction of the job and of its operation. A fixed delay waits for this job from now on. $3 is null
     * where another job is at work, which stays the last one: this one is found by its operation.
     */
    static final String RAN = """
            /* rowlock:schedule-ran-by-hand */
            UPDATE rowlock_schedule
            SET last_at = $2::timestamptz, last_job = coalesce($3::bigint, last_job), next_at = CASE WHEN delay IS NULL THEN next_at END,
                updated_at = clock_timestamp()
            WHERE name = $1
            """;

    /* In the transaction of what was done. No lock but of its own row. Rows: one. */
    static final String RECORD = """
            /* rowlock:record-operation-on-schedule */
            INSERT INTO rowlock_operation (who, why, what, schedule, job_id) VALUES ($1, $2, $3, $4, $5)
            """;

    private final Names names;

    public ScheduleOperationSql(Names names) {
        this.names = names;
    }

    /** What a declaration says. */
    public record Declared(
            String name, int revision, TimingColumns timing, JobColumns job, String misfire, String overlap) {}

    /** Where a row stands; now is the database's clock. */
    public record Standing(
            @Nullable Instant nextAt,
            @Nullable Instant lastAt,
            @Nullable Long lastJob,
            @Nullable Instant pausedAt,
            @Nullable String pausedBy,
            @Nullable Instant removedAt,
            @Nullable String error,
            Instant now) {}

    /** A row. */
    public record ScheduleRow(Declared declared, Standing standing) {}

    public Optional<ScheduleRow> find(Connection connection, String name) throws SQLException {
        return new Sql(names, FIND)
                .query(connection, ScheduleOperationSql::row, name).stream().findFirst();
    }

    /** Waits for the row's lock, as long as the connection's lock_timeout. */
    public Optional<ScheduleRow> lock(Connection connection, String name) throws SQLException {
        return new Sql(names, LOCK)
                .query(connection, ScheduleOperationSql::row, name).stream().findFirst();
    }

    public List<ScheduleRow> page(Connection connection, @Nullable String after, int most) throws SQLException {
        return new Sql(names, PAGE).query(connection, ScheduleOperationSql::row, after == null ? "" : after, most);
    }

    private static ScheduleRow row(ResultSet row) throws SQLException {
        return new ScheduleRow(
                new Declared(
                        row.getString("name"),
                        row.getInt("revision"),
                        ScheduleSql.timing(row),
                        ScheduleSql.job(row),
                        row.getString("misfire"),
                        row.getString("overlap")),
                new Standing(
                        Sql.instant(row, "next_at"),
                        Sql.instant(row, "last_at"),
                        row.getObject("last_job", Long.class),
                        Sql.instant(row, "paused_at"),
                        row.getString("paused_by"),
                        Sql.instant(row, "removed_at"),
                        row.getString("error"),
                        Sql.requiredInstant(row, "now")));
    }

    /** The database's clock. */
    public Instant now(Connection connection) throws SQLException {
        return new Sql(names, CLOCK)
                .query(connection, row -> Sql.requiredInstant(row, "now"))
                .get(0);
    }

    /** False if the name is taken. */
    public boolean insert(Connection connection, Declared declared, Instant nextAt) throws SQLException {
        return write(INSERT, connection, declared, nextAt);
    }

    public void replace(Connection connection, Declared declared, @Nullable Instant nextAt) throws SQLException {
        write(REPLACE, connection, declared, nextAt);
    }

    private boolean write(String statement, Connection connection, Declared declared, @Nullable Instant nextAt)
            throws SQLException {
        TimingColumns timing = declared.timing();
        JobColumns job = declared.job();
        return new Sql(names, statement)
                        .update(
                                connection,
                                declared.name(),
                                declared.revision(),
                                timing.cron(),
                                timing.zone(),
                                micros(timing.every()),
                                micros(timing.delay()),
                                job.kind(),
                                job.payload(),
                                job.queue(),
                                job.priority(),
                                job.subject(),
                                declared.misfire(),
                                declared.overlap(),
                                Sql.timestamp(nextAt))
                == 1;
    }

    private static @Nullable Long micros(@Nullable Duration interval) {
        return interval == null ? null : Sql.micros(interval);
    }

    /** True if it was neither paused nor removed. */
    public boolean pause(Connection connection, String name, String who) throws SQLException {
        return new Sql(names, PAUSE).update(connection, name, who) == 1;
    }

    public void resume(Connection connection, String name, @Nullable Instant nextAt) throws SQLException {
        new Sql(names, RESUME).update(connection, name, Sql.timestamp(nextAt));
    }

    /** True if it was not removed before. */
    public boolean remove(Connection connection, String name) throws SQLException {
        return new Sql(names, REMOVE).update(connection, name) == 1;
    }

    public void ran(Connection connection, String name, Instant at, @Nullable Long job) throws SQLException {
        new Sql(names, RAN).update(connection, name, Sql.timestamp(at), job);
    }

    /** Keeps who did what to a schedule, and why. */
    public void record(Connection connection, String name, String what, By by, @Nullable Long job) throws SQLException {
        new Sql(names, RECORD).update(connection, by.who(), by.why(), what, name, job);
    }
}
