package io.rowlock.internal.sql;

import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the jobs that hold dedup keys, and changes them, in the transaction of an enqueue. READ COMMITTED only. */
public final class HolderSql {
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
     * As KEEP, but the rows are locked to be changed: those with a payload in $3 get it with its headers and subject and are as new,
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
                  created_at = CASE WHEN ($3::text[])[array_position((SELECT ids FROM spot), id)] IS NULL THEN created_at
                                    ELSE clock_timestamp() END,
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

    private final Sql keep;
    private final Sql change;
    private final Sql findOnce;

    public HolderSql(Names names) {
        this.keep = new Sql(names, KEEP);
        this.change = new Sql(names, CHANGE);
        this.findOnce = new Sql(names, FIND_ONCE);
    }

    /** A key that is taken, and how the job that holds it changes: by content (null: it stays) and time (null: it stays). */
    public record Taken(
            String kind,
            String key,
            @Nullable NewJob content,
            @Nullable Due due) {}

    /** The job that holds the key at this place in the list. */
    public record Holder(int place, Enqueued job) {}

    /** Locks the waiting jobs that hold the keys, without changing them. */
    public List<Holder> keep(Connection connection, List<Taken> keys) throws SQLException {
        return keep.query(
                connection,
                row -> holder(row, keys),
                Sql.texts(Sql.column(keys, Taken::kind)),
                Sql.texts(Sql.column(keys, Taken::key)));
    }

    /** Locks the waiting jobs that hold the keys, and changes those for which a change is given. */
    public List<Holder> change(Connection connection, List<Taken> keys) throws SQLException {
        return change.query(
                connection,
                row -> holder(row, keys),
                Sql.texts(Sql.column(keys, Taken::kind)),
                Sql.texts(Sql.column(keys, Taken::key)),
                Sql.texts(Sql.column(
                        keys,
                        key -> key.content() == null ? null : key.content().payload())),
                Sql.texts(Sql.column(
                        keys,
                        key -> key.content() == null ? null : key.content().headers())),
                Sql.texts(Sql.column(
                        keys,
                        key -> key.content() == null ? null : key.content().subject())),
                Sql.booleans(keys.stream().map(key -> key.due() != null).toList()),
                Sql.instants(Sql.column(
                        keys, key -> key.due() == null ? null : key.due().at())),
                Sql.bigints(Sql.column(
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
                Sql.texts(Sql.column(keys, Taken::kind)),
                Sql.texts(Sql.column(keys, Taken::key)));
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
}
