package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.SagaStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * What others want of sagas: signals and cancels, and to wake the driver for them. Under the saga's lock, so that a driver
 * that is about to wait either sees them or is woken.
 */
public final class WishSql {
    /* No lock. Index: rowlock_saga_business_key. Rows: at most 100; the unfinished ones first, then the newest. */
    static final String BY_KEY = """
            /* rowlock:sagas-of-key */
            SELECT id, finished_at IS NULL AS open
            FROM rowlock_saga
            WHERE business_key = $1
            ORDER BY (finished_at IS NULL) DESC, created_at DESC
            LIMIT 100
            """;

    /* Locks the saga; skips it if somebody else has. Index: the primary key. */
    static final String LOCK = """
            /* rowlock:lock-saga */
            SELECT id, status, pivoted, driver
            FROM rowlock_saga
            WHERE id = $1
            FOR NO KEY UPDATE SKIP LOCKED
            """;

    static final String EXISTS = "/* rowlock:saga-exists */ SELECT 1 FROM rowlock_saga WHERE id = $1";

    /*
     * Bounded, as whoever waits reads them all, but for those of children; where the saga was redacted, without what it carries. Index:
     * rowlock_saga_signal_saga, the primary key, rowlock_operation_saga. Rows read: what people did to the saga.
     */
    static final String SIGNAL = """
            /* rowlock:record-signal */
            INSERT INTO rowlock_saga_signal (saga, name, payload)
            SELECT $1, $2,
                   CASE WHEN EXISTS (
                     SELECT 1
                     FROM (SELECT created_at FROM rowlock_saga WHERE id = $1 AND finished_at IS NOT NULL OFFSET 0) AS finished
                     CROSS JOIN LATERAL (
                       SELECT 1
                       FROM rowlock_operation o
                       WHERE o.saga = $1 AND o.what = 'redact' AND o.at > finished.created_at
                       LIMIT 1) AS redacted)
                   THEN '{}' ELSE $3::json END
            WHERE $2 LIKE 'rowlock-child-%'
               OR (SELECT count(*) FROM (SELECT 1 FROM rowlock_saga_signal WHERE saga = $1 LIMIT 1000) AS there) < 1000
            """;

    /*
     * Wishes for a saga, or for its business key, that were not brought yet: those of before it was there wait for their next
     * attempt. Locks their rows, and skips what somebody has locked. Index: rowlock_job_subject. Rows: at most 1,000.
     */
    static final String HURRY = """
            /* rowlock:hurry-wishes */
            WITH waiting AS MATERIALIZED (
              SELECT w.id
              FROM unnest($1::text[]) AS about(subject)
              CROSS JOIN LATERAL (
                SELECT id FROM rowlock_job
                WHERE subject = about.subject AND kind = 'rowlock-saga-wish' AND state = 'ready'
                ORDER BY subject, id
                LIMIT 500) w),
            due AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT id FROM waiting)) AND state = 'ready' AND locked_by IS NULL
                AND run_at > clock_timestamp()
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            hurried AS (
              UPDATE rowlock_job SET run_at = clock_timestamp() WHERE id = ANY(ARRAY(SELECT id FROM due)))
            SELECT count(*) AS n FROM waiting
            """;

    /* The first one stays. Index: the primary key. */
    static final String CANCEL =
            "/* rowlock:cancel-saga */ UPDATE rowlock_saga SET cancel_reason = $2 WHERE id = $1 AND cancel_reason IS NULL";

    /*
     * Makes a waiting driver due. One that is leased looks under the saga's lock before it waits; one whose row somebody
     * else has locked is answered by 'locked', and asked for again. Index: the primary key.
     */
    static final String WAKE = """
            /* rowlock:wake-driver */
            WITH waiting AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = $1 AND state = 'ready' AND locked_by IS NULL
              FOR NO KEY UPDATE SKIP LOCKED),
            woken AS (
              UPDATE rowlock_job
              SET run_at = least(run_at, clock_timestamp())
              WHERE id = ANY(ARRAY(SELECT id FROM waiting))
              RETURNING id)
            SELECT EXISTS (SELECT 1 FROM woken) AS woken,
                   EXISTS (SELECT 1 FROM rowlock_job WHERE id = $1 AND state = 'ready' AND locked_by IS NULL) AS waits
            """;

    private final Sql byKey;
    private final Sql lock;
    private final Sql exists;
    private final Sql signal;
    private final Sql cancel;
    private final Sql wake;
    private final Sql hurry;

    public WishSql(Names names) {
        this.byKey = new Sql(names, BY_KEY);
        this.lock = new Sql(names, LOCK);
        this.exists = new Sql(names, EXISTS);
        this.signal = new Sql(names, SIGNAL);
        this.cancel = new Sql(names, CANCEL);
        this.wake = new Sql(names, WAKE);
        this.hurry = new Sql(names, HURRY);
    }

    /** A saga under a business key. */
    public record OfKey(String id, boolean open) {}

    /** A saga that is locked now; driver 0: it has none. */
    public record Held(String id, SagaStatus status, boolean pivoted, long driver) {}

    public List<OfKey> ofKey(Connection connection, String key) throws SQLException {
        return byKey.query(connection, row -> new OfKey(row.getString("id"), row.getBoolean("open")), key);
    }

    /** Empty if there is none, or somebody has it locked. */
    public Optional<Held> lock(Connection connection, String id) throws SQLException {
        return lock
                .query(
                        connection,
                        row -> new Held(
                                row.getString("id"),
                                Words.read(SagaStatus.class, row.getString("status")),
                                row.getBoolean("pivoted"),
                                row.getLong("driver")),
                        id)
                .stream()
                .findFirst();
    }

    public boolean exists(Connection connection, String id) throws SQLException {
        return !exists.query(connection, row -> true, id).isEmpty();
    }

    /** False if the saga has a thousand signals already. */
    public boolean signal(Connection connection, String saga, String name, String payload) throws SQLException {
        return signal.update(connection, saga, name, payload) == 1;
    }

    /** False if somebody has asked for it already. */
    public boolean cancel(Connection connection, String saga, String reason) throws SQLException {
        return cancel.update(connection, saga, reason) == 1;
    }

    /** Makes due what waits to be brought to a saga; gives how many there are, at work or not. */
    public long hurry(Connection connection, Collection<String> subjects) throws SQLException {
        return hurry.query(connection, row -> row.getLong("n"), Sql.texts(subjects))
                .get(0);
    }

    /** False if the driver waits, and somebody has its row locked: then it may have overlooked what is new. */
    public boolean wake(Connection connection, long driver) throws SQLException {
        return wake.query(connection, row -> row.getBoolean("woken") || !row.getBoolean("waits"), driver)
                .get(0);
    }
}
