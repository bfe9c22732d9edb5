package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Deletes finished sagas past their retention; finds unfinished ones that nothing moves. */
public final class KeepingSql {
    /*
     * Locks the sagas, and skips what somebody has locked; a finished one stays so. Of one process at a time, by an advisory
     * lock of this transaction. One whose parent is not finished is kept, as the parent has yet to read it; a finished parent
     * stays so. Index: rowlock_saga_finished_at, the primary keys. Rows: at most $3 sagas and what belongs to them, and past
     * those that are kept. If the planner saw the limit, it might sort all finished rows where there are no statistics; if it
     * saw a join with the parents, it might walk the table for them.
     */
    static final String PRUNE = """
            /* rowlock:prune-sagas */
            WITH mine AS MATERIALIZED (
              SELECT pg_try_advisory_xact_lock(hashtextextended('rowlock saga pruner', $2::bigint)) AS turn),
            seen AS MATERIALIZED (
              SELECT s.id
              FROM unnest(ARRAY[$3::integer]) AS at_most(n)
              CROSS JOIN LATERAL (
                SELECT id
                FROM rowlock_saga child
                WHERE finished_at < statement_timestamp() - $1::bigint * interval '1 microsecond'
                  AND (SELECT parent.finished_at IS NULL FROM rowlock_saga parent WHERE parent.id = child.parent) IS NOT TRUE
                ORDER BY finished_at, id
                LIMIT at_most.n) s
              WHERE (SELECT turn FROM mine)),
            old AS MATERIALIZED (
              SELECT id
              FROM rowlock_saga
              WHERE id = ANY(ARRAY(SELECT id FROM seen))
              ORDER BY id
              FOR UPDATE SKIP LOCKED),
            signals AS (DELETE FROM rowlock_saga_signal WHERE saga = ANY(ARRAY(SELECT id FROM old))),
            steps AS (DELETE FROM rowlock_saga_step WHERE saga = ANY(ARRAY(SELECT id FROM old)))
            DELETE FROM rowlock_saga WHERE id = ANY(ARRAY(SELECT id FROM old))
            """;

    /* Index: rowlock_saga_open, walked from one name and version to the next; bounded by how many there are. */
    static final String VERSIONS = """
            /* rowlock:open-saga-versions */
            SELECT name, version, count(*) AS n
            FROM (SELECT name, version FROM rowlock_saga WHERE finished_at IS NULL AND name = ANY($1::text[]) LIMIT 100000) AS open
            GROUP BY name, version
            ORDER BY name, version
            """;

    /*
     * No lock. Index: rowlock_saga_open from the place where the last step ended, and the jobs' primary key. Rows: at most
     * $6, with whether the driver is a job that will run.
     */
    static final String DRIVERS = """
            /* rowlock:look-at-drivers */
            SELECT s.name, s.status, s.created_at, s.id,
                   coalesce((SELECT j.state IN ('ready', 'parked') FROM rowlock_job j WHERE j.id = s.driver), false) AS driven
            FROM rowlock_saga s
            WHERE s.finished_at IS NULL AND s.name = ANY($1::text[])
              AND (s.name, s.status, s.created_at, s.id) > ($2, $3, $4::timestamptz, $5)
            ORDER BY s.name, s.status, s.created_at, s.id
            LIMIT $6
            """;

    /* Locks the saga, unless somebody has it locked. A driver that ends records its saga in the same transaction. */
    static final String UNDRIVEN = """
            /* rowlock:undriven-saga */
            WITH undriven AS MATERIALIZED (
              SELECT id
              FROM rowlock_saga s
              WHERE id = $1 AND status IN ('running', 'compensating')
                AND NOT EXISTS (SELECT 1 FROM rowlock_job j WHERE j.id = s.driver AND j.state IN ('ready', 'parked'))
              FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE rowlock_saga
            SET status = 'stuck', reason = $2, driver = NULL, updated_at = clock_timestamp()
            WHERE id = ANY(ARRAY(SELECT id FROM undriven))
            RETURNING version
            """;

    private final Sql prune;
    private final Sql drivers;
    private final Sql undriven;
    private final Sql versions;
    private final long salt;

    public KeepingSql(Names names) {
        this.prune = new Sql(names, PRUNE);
        this.drivers = new Sql(names, DRIVERS);
        this.undriven = new Sql(names, UNDRIVEN);
        this.versions = new Sql(names, VERSIONS);
        this.salt = names.table("saga").hashCode();
    }

    public int prune(Connection connection, Duration retention, int most) throws SQLException {
        return prune.update(connection, Sql.micros(retention), salt, most);
    }

    /** Where a look at the unfinished sagas has come to. */
    public record Place(String name, String status, Instant createdAt, String id) {
        /** Before all. */
        public static final Place START = new Place("", "", Instant.EPOCH, "");
    }

    /** An unfinished saga. */
    public record Driven(Place place, boolean driven) {
        /** Whether it should have a driver and has none: somebody has taken that job away. */
        public boolean abandoned() {
            return !driven
                    && (place.status().equals("running") || place.status().equals("compensating"));
        }
    }

    public List<Driven> drivers(Connection connection, Collection<String> names, Place after, int most)
            throws SQLException {
        return drivers.query(
                connection,
                row -> new Driven(
                        new Place(
                                row.getString("name"),
                                row.getString("status"),
                                Sql.requiredInstant(row, "created_at"),
                                row.getString("id")),
                        row.getBoolean("driven")),
                Sql.texts(names),
                after.name(),
                after.status(),
                Sql.timestamp(after.createdAt()),
                after.id(),
                most);
    }

    /** Its version, if nothing drove it: now it is stuck, for a person to see. */
    public Optional<Integer> undriven(Connection connection, String saga, String reason) throws SQLException {
        return undriven.query(connection, row -> row.getInt("version"), saga, reason).stream()
                .findFirst();
    }

    /** How many unfinished sagas of a version there are. */
    public record Open(String name, int version, long count) {}

    public List<Open> versions(Connection connection, Collection<String> names) throws SQLException {
        return versions.query(
                connection,
                row -> new Open(row.getString("name"), row.getInt("version"), row.getLong("n")),
                Sql.texts(names));
    }
}
