package io.rowlock.internal.sql;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.job.DedupMode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes new jobs with dedup keys, in the caller's transaction, where those are free. */
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

    /*
     * Rows are written in the order of their keys; the ids, drawn before, rise in the order of the requests. The sequence is
     * looked up once: for each id that would be some pages of the catalogue.
     */
    static final String DRAW_IDS = "/* rowlock:draw-ids */ WITH here AS MATERIALIZED (SELECT " + PERMIT
            + ", pg_get_serial_sequence('rowlock_job', 'id')::regclass AS ids) " + """
            SELECT isolation, may_draw,
                   CASE WHEN isolation = 'read committed' AND may_draw THEN nextval(ids) END AS id
            FROM here
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

    private final Names names;
    private final Sql drawIds;
    private final Sql enqueue;
    private final Sql enqueueOrLockWaiting;
    private final Sql enqueueOrLockOnce;

    public DedupSql(Names names) {
        this.names = names;
        this.drawIds = new Sql(names, DRAW_IDS);
        this.enqueue = new Sql(names, ENQUEUE);
        this.enqueueOrLockWaiting = new Sql(names, ENQUEUE_OR_LOCK_WAITING);
        this.enqueueOrLockOnce = new Sql(names, ENQUEUE_OR_LOCK_ONCE);
    }

    /** A row to be written, with its id if one was drawn, and its key if it has one. */
    public record NewRow(
            @Nullable Long id,
            NewJob job,
            @Nullable String key,
            @Nullable DedupMode mode) {}

    /** A row that was written. */
    public record Written(long id, Instant runAt) {}

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
                Sql.bigints(Sql.column(rows, NewRow::id)),
                Sql.texts(Sql.column(rows, row -> row.job().queue())),
                Sql.texts(Sql.column(rows, row -> row.job().kind())),
                Sql.integers(Sql.column(rows, row -> row.job().priority().level())),
                Sql.texts(Sql.column(rows, row -> row.job().subject())),
                Sql.texts(Sql.column(rows, row -> row.job().payload())),
                Sql.texts(Sql.column(rows, row -> row.job().headers())),
                Sql.integers(Sql.column(rows, row -> row.job().maxAttempts())),
                Sql.texts(Sql.column(rows, row -> row.job().keys().ordering())),
                Sql.texts(Sql.column(rows, row -> row.job().keys().limit())),
                Sql.texts(Sql.column(rows, NewRow::key)),
                Sql.texts(Sql.column(
                        rows, row -> row.mode() == null ? null : row.mode().text())),
                Sql.instants(Sql.column(rows, row -> row.job().due().at())),
                Sql.bigints(Sql.column(
                        rows, row -> EnqueueSql.micros(row.job().due().after()))));
        return answers.stream().flatMap(Optional::stream).toList();
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
}
