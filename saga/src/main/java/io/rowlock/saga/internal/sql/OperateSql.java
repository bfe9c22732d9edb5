package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.job.By;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What people do to sagas. All under the lock of the saga's row ({@link WishSql#lock}); READ COMMITTED. */
public final class OperateSql {
    /* The place of a step among what has ended; times as they fit it. Index: the primary key. Rows: one. */
    static final String STEP = """
            /* rowlock:operate-step */
            UPDATE rowlock_saga_step
            SET status = $4, attempts = $5, compensation_attempts = $6, result = coalesce($7::json, result), error = $8,
                ended = $9::integer, due_at = CASE WHEN $10::boolean THEN clock_timestamp() END,
                finished_at = CASE WHEN $9::integer IS NOT NULL THEN coalesce(finished_at, clock_timestamp()) END
            WHERE saga = $1 AND step = $2 AND branch = $3
            """;

    /* A part of the definition that then begins again. Index: the primary key. Rows: one. */
    static final String FORGET =
            "/* rowlock:forget-step */ DELETE FROM rowlock_saga_step WHERE saga = $1 AND step = $2 AND branch = ''";

    /* Index: the primary key. Rows: one. */
    static final String SAGA = """
            /* rowlock:operate-saga */
            UPDATE rowlock_saga
            SET status = $2, state = coalesce($3::json, state), step = $4, ended = $5, reason = $6,
                cancel_reason = coalesce($7, cancel_reason), driver = $8::bigint, updated_at = clock_timestamp(),
                finished_at = CASE WHEN $2 = 'resolved' THEN clock_timestamp() END
            WHERE id = $1
            """;

    /* Of a saga whose row is locked. Index: the primary key. Rows: one. */
    static final String QUEUE = "/* rowlock:queue-of-saga */ SELECT queue FROM rowlock_saga WHERE id = $1";

    /* A driver that was written in this transaction, so nobody has it locked. Index: the primary keys. */
    static final String HEADERS = """
            /* rowlock:headers-of-driver */
            UPDATE rowlock_job
            SET headers = (SELECT headers FROM rowlock_saga WHERE id = $2)
            WHERE id = $1
            """;

    /* Index: the primary key. Rows: as many as retry just now. */
    static final String HURRY = """
            /* rowlock:hurry-steps */
            UPDATE rowlock_saga_step
            SET due_at = clock_timestamp()
            WHERE saga = $1 AND status IN ('retrying', 'compensating') AND due_at > clock_timestamp()
            """;

    /*
     * As the wake of a driver, but it tells whether the driver was woken, and whether it had failed itself. Its row stays
     * locked, so that who claims it reads what is written here. Index: the primary key.
     */
    static final String HURRY_DRIVER = """
            /* rowlock:hurry-driver */
            WITH waiting AS MATERIALIZED (
              SELECT id, attempts > 0 AND run_at > clock_timestamp() AS failed
              FROM rowlock_job
              WHERE id = $1 AND state = 'ready' AND locked_by IS NULL
              FOR NO KEY UPDATE SKIP LOCKED),
            woken AS (
              UPDATE rowlock_job
              SET run_at = least(run_at, clock_timestamp())
              WHERE id = ANY(ARRAY(SELECT id FROM waiting))
              RETURNING id)
            SELECT EXISTS (SELECT 1 FROM woken) AS woken, EXISTS (SELECT 1 FROM waiting WHERE failed) AS failed,
                   EXISTS (SELECT 1 FROM rowlock_job WHERE id = $1 AND state = 'ready' AND locked_by IS NULL) AS waits
            """;

    static final String NOTE =
            "/* rowlock:note-operation */ INSERT INTO rowlock_operation (who, why, what, saga, step) VALUES ($1, $2, $3, $4, $5)";

    private final Sql step;
    private final Sql forget;
    private final Sql saga;
    private final Sql headers;
    private final Sql queue;
    private final Sql hurry;
    private final Sql hurryDriver;
    private final Sql note;

    public OperateSql(Names names) {
        this.step = new Sql(names, STEP);
        this.forget = new Sql(names, FORGET);
        this.saga = new Sql(names, SAGA);
        this.headers = new Sql(names, HEADERS);
        this.queue = new Sql(names, QUEUE);
        this.hurry = new Sql(names, HURRY);
        this.hurryDriver = new Sql(names, HURRY_DRIVER);
        this.note = new Sql(names, NOTE);
    }

    /** Writes a step as it is to stand; its time is now, or none. A result of null leaves the one that is there. */
    public void step(Connection connection, String of, StepRow row, boolean due) throws SQLException {
        step.update(
                connection,
                of,
                row.key().step(),
                row.key().branch(),
                Words.of(row.status()),
                row.counts().attempts(),
                row.counts().compensations(),
                row.outcome().result(),
                row.outcome().error(),
                row.outcome().ended(),
                due);
    }

    public void forget(Connection connection, String of, StepKey key) throws SQLException {
        forget.update(connection, of, key.step());
    }

    /** How a saga is to stand; null: as it is ({@code state}, {@code cancel}). */
    public record Standing(
            SagaStatus status,
            @Nullable String state,
            Progress progress,
            @Nullable String cancel) {}

    /** Writes it, and which job drives it, or none. */
    public void saga(Connection connection, String id, Standing standing, @Nullable Long driver) throws SQLException {
        saga.update(
                connection,
                id,
                Words.of(standing.status()),
                standing.state(),
                standing.progress().step(),
                standing.progress().ended(),
                standing.progress().reason(),
                standing.cancel(),
                driver);
        if (driver != null) {
            headers.update(connection, driver, id);
        }
    }

    /** The queue of a saga's drivers; empty if that is not known. */
    public Optional<String> queue(Connection connection, String saga) throws SQLException {
        return queue.query(connection, row -> Optional.ofNullable(row.getString("queue")), saga).stream()
                .flatMap(Optional::stream)
                .findFirst();
    }

    /** What can be said of a driver that was to be woken. */
    public enum Woken {
        /** It waited for what its saga waits for, and is due. */
        YES,
        /** It waited for its next attempt after one of its own that failed, and is due. */
        AFTER_FAILURE,
        /** Somebody has its row locked: to be asked for again. */
        LOCKED,
        /** A worker has it. */
        AT_WORK
    }

    public Woken hurryDriver(Connection connection, long job) throws SQLException {
        return hurryDriver
                .query(
                        connection,
                        row -> {
                            if (row.getBoolean("woken")) {
                                return row.getBoolean("failed") ? Woken.AFTER_FAILURE : Woken.YES;
                            }
                            return row.getBoolean("waits") ? Woken.LOCKED : Woken.AT_WORK;
                        },
                        job)
                .get(0);
    }

    /** Whether there were any that waited for their next attempt. */
    public boolean hurrySteps(Connection connection, String of) throws SQLException {
        return hurry.update(connection, of) > 0;
    }

    /** Says who did what to which saga, and why. */
    public void note(Connection connection, String what, @Nullable String id, @Nullable String of, By by)
            throws SQLException {
        note.update(connection, by.who(), by.why(), what, id, of);
    }
}
