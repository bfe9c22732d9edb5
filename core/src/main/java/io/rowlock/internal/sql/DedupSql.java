package io.rowlock.internal.sql;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes new jobs with dedup keys, in the caller's transaction, and finds the jobs that hold a key already. */
public final class DedupSql {
    /*
     * What must hold for any of these statements to do anything, asked for in the statement itself, so that a refusal is
     * an answer and no error of the server (P15). Above READ COMMITTED a conflict with a row that the snapshot does not
     * show would be such an error. Ids are drawn by hand, which the right to insert does not cover.
     */
    private static final String PERMITTED = """
            current_setting('transaction_isolation') = 'read committed'
              AND has_sequence_privilege(pg_get_serial_sequence('rowlock_job', 'id'), 'USAGE, UPDATE')
            """;

    private static final String PERMIT = """
            current_setting('transaction_isolation') AS isolation,
            has_sequence_privilege(pg_get_serial_sequence('rowlock_job', 'id'), 'USAGE, UPDATE') AS may_draw
            """;

    /* Rows are written in the order of their keys; the ids, drawn before, rise in the order of the requests. */
    static final String DRAW_IDS = "/* rowlock:draw-ids */ SELECT " + PERMIT
            + ", CASE WHEN " + PERMITTED + " THEN nextval(s.name::regclass) END AS id" + """
             FROM (SELECT pg_get_serial_sequence('rowlock_job', 'id') AS name OFFSET 0) AS s
            CROSS JOIN generate_series(1, $1::integer)
            """;

    /*
     * Locks: the new rows, and their entries in rowlock_job_waiting and rowlock_job_once; waits where another open
     * transaction has written the same entry. Isolation: READ COMMITTED. Rows: as many as the arrays are long, in their
     * order, without those whose key is taken. The empty left join tells what was permitted even when nothing is new.
     */
    static final String ENQUEUE = """
            /* rowlock:enqueue-dedup */
            WITH written AS (
              INSERT INTO rowlock_job (id, queue, kind, priority, subject, payload, headers, max_attempts, ordering_key,
                                       limit_key, dedup_key, dedup_mode, waiting_key, run_at)
              OVERRIDING SYSTEM VALUE
              SELECT coalesce(n.id, nextval(pg_get_serial_sequence('rowlock_job', 'id')::regclass)), n.queue, n.kind,
                     n.priority, n.subject, n.payload::json, n.headers::json, n.max_attempts, n.ordering_key, n.limit_key,
                     n.dedup_key, n.dedup_mode, CASE WHEN n.dedup_mode <> 'once' THEN n.dedup_key END,
                     greatest(clock_timestamp(), n.run_at, clock_timestamp() + n.delay * interval '1 microsecond')
              FROM unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::text[],
                          $8::integer[], $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[],
                          $14::bigint[])
                WITH ORDINALITY AS n(id, queue, kind, priority, subject, payload, headers, max_attempts, ordering_key,
                                     limit_key, dedup_key, dedup_mode, run_at, delay, position)
              WHERE
            """ + PERMITTED + """
              ORDER BY n.position
              ON CONFLICT DO NOTHING
              RETURNING id, run_at)
            SELECT
            """ + PERMIT + """
                   , written.id, written.run_at
            FROM (SELECT 1) AS always LEFT JOIN written ON true
            """;

    /*
     * The same; but locks the row that holds the key, so that it stays there for the following statement. Takes either
     * way, however often claims free the key in between: the server itself tries again.
     */
    static final String ENQUEUE_OR_LOCK_WAITING = ENQUEUE.replace(
            "ON CONFLICT DO NOTHING",
            "ON CONFLICT (kind, waiting_key) WHERE waiting_key IS NOT NULL DO UPDATE SET token = 0 WHERE false");

    static final String ENQUEUE_OR_LOCK_ONCE = ENQUEUE.replace(
            "ON CONFLICT DO NOTHING",
            "ON CONFLICT (kind, dedup_key) WHERE dedup_mode = 'once' DO UPDATE SET token = 0 WHERE false");

    /*
     * Locks: the waiting rows, in the order of the keys, so that no claim (which skips what is locked) starts one before
     * the caller's transaction has ended: it would run on data that is not there yet, and the caller be deceived. Shared:
     * many duplicates of one job do not wait for each other. Waits for transactions that change such a row; what was
     * claimed meanwhile is left out. Index: rowlock_job_waiting.
     */
    static final String KEEP = """
            /* rowlock:keep-waiting */
            SELECT n.position, j.id, j.queue, j.priority, j.run_at, j.keyed
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n(kind, key, position)
            CROSS JOIN LATERAL (
              SELECT id, queue, priority, run_at, ordering_key IS NOT NULL OR limit_key IS NOT NULL AS keyed
              FROM rowlock_job
              WHERE kind = n.kind AND waiting_key = n.key
              FOR SHARE) j
            """;

    /*
     * As KEEP, but the rows are locked to be changed: those with a payload in $3 get it with its headers and subject,
     * those with true in $6 become due later. Index: rowlock_job_waiting, then the primary key. A position without a row
     * stays in the array of ids, so that a row's place in it is its place in the parameters.
     */
    static final String CHANGE = """
            /* rowlock:change-waiting */
            WITH found AS MATERIALIZED (
              SELECT n.position, j.id, j.queue, j.priority, j.run_at, j.keyed
              FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n(kind, key, position)
              LEFT JOIN LATERAL (
                SELECT id, queue, priority, run_at, ordering_key IS NOT NULL OR limit_key IS NOT NULL AS keyed
                FROM rowlock_job
                WHERE kind = n.kind AND waiting_key = n.key
                FOR NO KEY UPDATE) j ON true),
            spot AS MATERIALIZED (
              SELECT array_agg(id ORDER BY position) AS ids FROM found),
            changed AS (
              UPDATE rowlock_job
              SET payload = coalesce(($3::text[])[array_position((SELECT ids FROM spot), id)]::json, payload),
                  headers = CASE WHEN ($3::text[])[array_position((SELECT ids FROM spot), id)] IS NULL THEN headers
                                 ELSE ($4::text[])[array_position((SELECT ids FROM spot), id)]::json END,
                  subject = CASE WHEN ($3::text[])[array_position((SELECT ids FROM spot), id)] IS NULL THEN subject
                                 ELSE ($5::text[])[array_position((SELECT ids FROM spot), id)] END,
                  run_at = CASE WHEN ($6::boolean[])[array_position((SELECT ids FROM spot), id)]
                             THEN greatest(run_at, clock_timestamp(), ($7::timestamptz[])[array_position((SELECT ids FROM spot), id)],
                                           clock_timestamp() + ($8::bigint[])[array_position((SELECT ids FROM spot), id)]
                                                               * interval '1 microsecond')
                             ELSE run_at END
              WHERE id = ANY(ARRAY(SELECT id FROM found
                                   WHERE ($3::text[])[position] IS NOT NULL OR ($6::boolean[])[position]))
              RETURNING id, run_at)
            SELECT f.position, f.id, f.queue, f.priority, coalesce(c.run_at, f.run_at) AS run_at, f.keyed
            FROM found f LEFT JOIN changed c ON c.id = f.id
            WHERE f.id IS NOT NULL
            """;

    /* No lock: whatever becomes of that job, it is the one. Index: rowlock_job_once. */
    static final String FIND_ONCE = """
            /* rowlock:find-once */
            SELECT n.position, j.id, j.queue, j.priority, j.run_at, j.keyed
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n(kind, key, position)
            CROSS JOIN LATERAL (
              SELECT id, queue, priority, run_at, ordering_key IS NOT NULL OR limit_key IS NOT NULL AS keyed
              FROM rowlock_job
              WHERE kind = n.kind AND dedup_key = n.key AND dedup_mode = 'once'
              OFFSET 0) j
            """;

    private final Names names;
    private final Sql drawIds;
    private final Sql enqueue;
    private final Sql enqueueOrLockWaiting;
    private final Sql enqueueOrLockOnce;
    private final Sql keep;
    private final Sql change;
    private final Sql findOnce;

    public DedupSql(Names names) {
        this.names = names;
        this.drawIds = new Sql(names, DRAW_IDS);
        this.enqueue = new Sql(names, ENQUEUE);
        this.enqueueOrLockWaiting = new Sql(names, ENQUEUE_OR_LOCK_WAITING);
        this.enqueueOrLockOnce = new Sql(names, ENQUEUE_OR_LOCK_ONCE);
        this.keep = new Sql(names, KEEP);
        this.change = new Sql(names, CHANGE);
        this.findOnce = new Sql(names, FIND_ONCE);
    }

    /** A row to be written, with its id if one was drawn, and its key if it has one. */
    public record NewRow(
            @Nullable Long id,
            NewJob job,
            @Nullable String key,
            @Nullable DedupMode mode) {}

    /** A row that was written. */
    public record Written(long id, Instant runAt) {}

    /** A key that is taken, and how the job that holds it changes: by content (null: it stays) and time (null: it stays). */
    public record Taken(
            String kind,
            String key,
            @Nullable NewJob content,
            @Nullable Due due) {}

    /** The job that holds the key at this place in the list. */
    public record Holder(int place, Enqueued job) {}

    /** What an insert does about rows whose key is taken. */
    public enum Conflict {
        SKIP,
        LOCK_WAITING,
        LOCK_ONCE
    }

    /**
     * Draws so many ids, rising.
     *
     * @throws InvalidUseException in any isolation but READ COMMITTED, or without the right to draw them
     */
    public List<Long> drawIds(Connection connection, int count) throws SQLException {
        return drawIds.query(
                connection,
                row -> {
                    refuseUnlessPermitted(row);
                    return row.getLong("id");
                },
                count);
    }

    /**
     * Inserts the rows whose keys are free, in one statement.
     *
     * @throws InvalidUseException as {@link #drawIds}
     */
    public List<Written> enqueue(Connection connection, List<NewRow> rows, Conflict conflict) throws SQLException {
        Sql sql = switch (conflict) {
            case SKIP -> enqueue;
            case LOCK_WAITING -> enqueueOrLockWaiting;
            case LOCK_ONCE -> enqueueOrLockOnce;
        };
        List<Optional<Written>> answers = sql.query(
                connection,
                this::written,
                Sql.bigints(column(rows, NewRow::id)),
                Sql.texts(column(rows, row -> row.job().queue())),
                Sql.texts(column(rows, row -> row.job().kind())),
                Sql.integers(column(rows, row -> row.job().priority().level())),
                Sql.texts(column(rows, row -> row.job().subject())),
                Sql.texts(column(rows, row -> row.job().payload())),
                Sql.texts(column(rows, row -> row.job().headers())),
                Sql.integers(column(rows, row -> row.job().maxAttempts())),
                Sql.texts(column(rows, row -> row.job().keys().ordering())),
                Sql.texts(column(rows, row -> row.job().keys().limit())),
                Sql.texts(column(rows, NewRow::key)),
                Sql.texts(column(
                        rows, row -> row.mode() == null ? null : row.mode().text())),
                Sql.instants(column(rows, row -> row.job().due().at())),
                Sql.bigints(
                        column(rows, row -> EnqueueSql.micros(row.job().due().after()))));
        return answers.stream().flatMap(Optional::stream).toList();
    }

    /** Locks the waiting jobs that hold the keys, without changing them. */
    public List<Holder> keep(Connection connection, List<Taken> keys) throws SQLException {
        return keep.query(
                connection,
                row -> holder(row, keys),
                Sql.texts(column(keys, Taken::kind)),
                Sql.texts(column(keys, Taken::key)));
    }

    /** Locks the waiting jobs that hold the keys, and changes those for which a change is given. */
    public List<Holder> change(Connection connection, List<Taken> keys) throws SQLException {
        return change.query(
                connection,
                row -> holder(row, keys),
                Sql.texts(column(keys, Taken::kind)),
                Sql.texts(column(keys, Taken::key)),
                Sql.texts(column(
                        keys,
                        key -> key.content() == null ? null : key.content().payload())),
                Sql.texts(column(
                        keys,
                        key -> key.content() == null ? null : key.content().headers())),
                Sql.texts(column(
                        keys,
                        key -> key.content() == null ? null : key.content().subject())),
                Sql.booleans(keys.stream().map(key -> key.due() != null).toList()),
                Sql.instants(
                        column(keys, key -> key.due() == null ? null : key.due().at())),
                Sql.bigints(column(
                        keys,
                        key -> key.due() == null
                                ? null
                                : EnqueueSql.micros(key.due().after()))));
    }

    /** Finds the jobs that hold the keys once and for all. */
    public List<Holder> findOnce(Connection connection, List<Taken> keys) throws SQLException {
        return findOnce.query(
                connection,
                row -> holder(row, keys),
                Sql.texts(column(keys, Taken::kind)),
                Sql.texts(column(keys, Taken::key)));
    }

    private static Holder holder(ResultSet row, List<Taken> keys) throws SQLException {
        int place = row.getInt("position") - 1;
        return new Holder(
                place,
                new Enqueued(
                        row.getLong("id"),
                        keys.get(place).kind(),
                        row.getString("queue"),
                        Priority.ofLevel(row.getInt("priority")),
                        Sql.requiredInstant(row, "run_at"),
                        row.getBoolean("keyed"),
                        true));
    }

    private Optional<Written> written(ResultSet row) throws SQLException {
        refuseUnlessPermitted(row);
        return row.getObject("id") == null
                ? Optional.empty()
                : Optional.of(new Written(row.getLong("id"), Sql.requiredInstant(row, "run_at")));
    }

    private void refuseUnlessPermitted(ResultSet row) throws SQLException {
        String isolation = row.getString("isolation");
        if (!isolation.equals("read committed")) {
            throw new InvalidUseException(
                    "Jobs with dedup keys can be written in a READ COMMITTED transaction only, this"
                            + " one is " + isolation
                            + ": it could not see what others have written meanwhile. Nothing was"
                            + " written and the transaction goes on; leave the key out, or use READ COMMITTED");
        }
        if (!row.getBoolean("may_draw")) {
            throw new InvalidUseException(
                    names.apply("This role may not draw ids from rowlock_job_id_seq, which jobs with"
                            + " dedup keys need. Nothing was written and the transaction goes on; as the owner run GRANT USAGE ON"
                            + " SEQUENCE rowlock_job_id_seq TO that role (schema().script(0) has all grants)"));
        }
    }

    private static <T, V> List<@Nullable V> column(List<T> rows, Function<T, @Nullable V> value) {
        List<@Nullable V> values = new ArrayList<>(rows.size());
        rows.forEach(row -> values.add(value.apply(row)));
        return values;
    }
}
