package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.internal.sql.SagaWrite.Driver;
import io.rowlock.saga.internal.sql.SagaWrite.DriverDeed;
import io.rowlock.saga.internal.sql.SagaWrite.StepOf;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records what drivers did, many sagas in one transaction: {@link #lock}, {@link #awaited}, {@link #write}. Locks: saga
 * rows by id, then their drivers' rows by id, skipping what others hold; a saga whose driver is not held by owner and
 * token does not come back (promise P3). READ COMMITTED: each statement sees what was committed before it, so that after
 * the lock nothing is overlooked that was committed under it.
 */
public final class RecordSql {
    /*
     * The rows by array_position, and not by a join, which walks whole tables once statistics are stale. The stronger lock
     * where completed drivers are deleted, or two could deadlock over the upgrade.
     */
    static final String LOCK = """
            /* rowlock:lock-sagas */
            WITH sagas AS MATERIALIZED (
              SELECT id, driver, cancel_reason, deadline, updated_at
              FROM rowlock_saga
              WHERE id = ANY($1::text[]) AND driver = ($2::bigint[])[array_position($1::text[], id)]
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            drivers AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY(ARRAY(SELECT driver FROM sagas)) AND locked_by = $4
                AND token = ($3::bigint[])[array_position($2::bigint[], id)]
              ORDER BY id
              FOR UPDATE SKIP LOCKED)
            SELECT id, cancel_reason, coalesce(deadline <= clock_timestamp(), false) AS over, updated_at,
                   clock_timestamp() AS now, pg_current_xact_id()::text AS transaction, pg_backend_pid() AS backend
            FROM sagas
            WHERE driver = ANY(ARRAY(SELECT id FROM drivers))
            """;

    /* No lock: which of the sagas have a signal that has moved nothing, of the names they want to wait for. */
    static final String AWAITED = """
            /* rowlock:awaited-signals */
            SELECT DISTINCT wanted.saga
            FROM unnest($1::text[], $2::text[]) AS wanted(saga, name)
            CROSS JOIN LATERAL (
              SELECT 1
              FROM rowlock_saga_signal s
              WHERE s.saga = wanted.saga AND s.name = wanted.name AND s.consumed_by IS NULL
              LIMIT 1) s
            """;

    /* Index: the primary key, also for the conflict. Only rows of sagas that are locked. */
    static final String STEPS = """
            /* rowlock:record-saga-steps */
            INSERT INTO rowlock_saga_step AS s (saga, step, branch, status, attempts, compensation_attempts, unanswered, chosen,
              result, error, ended, due_at, free_at, finished_at, compensated_at)
            SELECT r.saga, r.step, r.branch, r.status, r.attempts, r.compensations, r.unanswered, r.chosen, r.result::json, r.error,
                   r.ended, r.due_at, r.free_at, CASE WHEN r.ended IS NOT NULL THEN clock_timestamp() END, NULL
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::boolean[], $8::text[],
                        $9::text[], $10::text[], $11::integer[], $12::timestamptz[], $13::timestamptz[])
              AS r(saga, step, branch, status, attempts, compensations, unanswered, chosen, result, error, ended, due_at, free_at)
            ON CONFLICT (saga, step, branch) DO UPDATE
            SET status = excluded.status, attempts = excluded.attempts, compensation_attempts = excluded.compensation_attempts,
                unanswered = excluded.unanswered, chosen = excluded.chosen, result = excluded.result, error = excluded.error,
                ended = excluded.ended, due_at = excluded.due_at, free_at = excluded.free_at,
                finished_at = coalesce(s.finished_at, CASE WHEN excluded.ended IS NOT NULL THEN clock_timestamp() END),
                compensated_at = CASE WHEN excluded.status = 'compensated' THEN coalesce(s.compensated_at, clock_timestamp()) END
            """;

    /* Index: the primary keys. Only rows that are locked. */
    static final String SAGAS = """
            /* rowlock:record-sagas */
            WITH consumed AS (
              UPDATE rowlock_saga_signal
              SET consumed_by = ($11::text[])[array_position($10::bigint[], id)], consumed_at = clock_timestamp()
              WHERE id = ANY($10::bigint[]) AND consumed_by IS NULL)
            UPDATE rowlock_saga
            SET (status, state, first_state, step, pivoted, ended, reason, late, driver, updated_at, finished_at) = (
              SELECT ($2::text[])[i], coalesce(($3::text[])[i]::json, state),
                     CASE WHEN first_state IS NULL AND ($3::text[])[i] IS NOT NULL THEN state ELSE first_state END, ($4::text[])[i], ($5::boolean[])[i], ($6::integer[])[i], ($7::text[])[i],
                     ($8::boolean[])[i], CASE WHEN ($9::boolean[])[i] THEN driver END, clock_timestamp(),
                     CASE WHEN ($2::text[])[i] IN ('completed', 'compensated', 'resolved') THEN clock_timestamp() END
              FROM (SELECT array_position($1::text[], rowlock_saga.id) AS i OFFSET 0) AS place)
            WHERE id = ANY($1::text[])
            RETURNING id, updated_at
            """;

    /* A new start of its attempts, as something was recorded. */
    static final String GO_ON = """
            /* rowlock:drivers-go-on */
            UPDATE rowlock_job
            SET attempts = 1, losses = ($4::integer[])[array_position($1::bigint[], id)]
            WHERE id = ANY($1::bigint[]) AND locked_by = $3 AND token = ($2::bigint[])[array_position($1::bigint[], id)]
            """;

    static final String PUT_BACK = """
            /* rowlock:put-back-drivers */
            UPDATE rowlock_job
            SET run_at = greatest(clock_timestamp(), ($4::timestamptz[])[array_position($1::bigint[], id)]),
                attempts = 0, losses = ($5::integer[])[array_position($1::bigint[], id)], token = token + 1,
                locked_by = NULL, locked_until = NULL
            WHERE id = ANY($1::bigint[]) AND locked_by = $3 AND token = ($2::bigint[])[array_position($1::bigint[], id)]
            """;

    static final String END = """
            /* rowlock:end-drivers */
            UPDATE rowlock_job
            SET state = 'completed', finished_at = clock_timestamp(), locked_by = NULL, locked_until = NULL
            WHERE id = ANY($1::bigint[]) AND locked_by = $3 AND token = ($2::bigint[])[array_position($1::bigint[], id)]
            """;

    /* Of a transaction that has rows locked and that nobody waits for any more; its session is its caller's role's. */
    static final String TERMINATE = "/* rowlock:terminate-step */ SELECT pg_terminate_backend($1) AS gone";

    static final String DELETE = """
            /* rowlock:delete-drivers */
            WITH failures AS (
              DELETE FROM rowlock_job_failure WHERE ctid = ANY(ARRAY(
                SELECT f.ctid
                FROM unnest($1::bigint[]) AS gone(id)
                CROSS JOIN LATERAL (
                  SELECT ctid FROM rowlock_job_failure WHERE job_id = gone.id FOR UPDATE SKIP LOCKED) f)))
            DELETE FROM rowlock_job
            WHERE id = ANY($1::bigint[]) AND locked_by = $3 AND token = ($2::bigint[])[array_position($1::bigint[], id)]
            """;

    /*
     * No lock: tells what is merely locked by somebody from what is lost: the lease, or the saga, which has another driver
     * or none. Index: the primary keys; the saga's in a subquery, as a join would walk tables.
     */
    static final String HELD = """
            /* rowlock:held-drivers */
            SELECT id
            FROM rowlock_job
            WHERE id = ANY($1::bigint[]) AND locked_by = $3 AND token = ($2::bigint[])[array_position($1::bigint[], id)]
              AND (SELECT s.driver FROM rowlock_saga s WHERE s.id = ($4::text[])[array_position($1::bigint[], rowlock_job.id)]) = id
            """;

    private final Sql lock;
    private final Sql awaited;
    private final Sql steps;
    private final Sql sagas;
    private final Sql goOn;
    private final Sql putBack;
    private final Sql end;
    private final Sql delete;
    private final Sql held;
    private final Sql terminate;

    public RecordSql(Names names) {
        this.lock = new Sql(names, LOCK);
        this.awaited = new Sql(names, AWAITED);
        this.steps = new Sql(names, STEPS);
        this.sagas = new Sql(names, SAGAS);
        this.goOn = new Sql(names, GO_ON);
        this.putBack = new Sql(names, PUT_BACK);
        this.end = new Sql(names, END);
        this.delete = new Sql(names, DELETE);
        this.held = new Sql(names, HELD);
        this.terminate = new Sql(names, TERMINATE);
    }

    /**
     * What others want of a saga, seen under its lock.
     *
     * @param cancel by whom and why a cancel was asked for
     * @param over whether its deadline is over
     * @param revision which record of it this is
     * @param transaction that has it locked
     * @param backend the server's process that has it locked
     */
    public record Locked(
            @Nullable String cancel, boolean over, Instant now, Instant revision, String transaction, int backend) {}

    /** Those of the sagas that are locked now, and whose drivers are held and locked. */
    public Map<String, Locked> lock(Connection connection, String owner, Collection<Driver> drivers)
            throws SQLException {
        Map<String, Locked> locked = new HashMap<>();
        lock.query(
                connection,
                row -> locked.put(
                        row.getString("id"),
                        new Locked(
                                row.getString("cancel_reason"),
                                row.getBoolean("over"),
                                Sql.requiredInstant(row, "now"),
                                Sql.requiredInstant(row, "updated_at"),
                                row.getString("transaction"),
                                row.getInt("backend"))),
                Sql.texts(Sql.column(drivers, Driver::saga)),
                Sql.bigints(Sql.column(drivers, Driver::job)),
                Sql.bigints(Sql.column(drivers, Driver::token)),
                owner);
        return locked;
    }

    /** A signal that a saga wants to wait for. */
    public record Wanted(String saga, String name) {}

    /** The sagas that need not wait. */
    public Set<String> awaited(Connection connection, List<Wanted> wanted) throws SQLException {
        return wanted.isEmpty()
                ? Set.of()
                : new HashSet<>(awaited.query(
                        connection,
                        row -> row.getString("saga"),
                        Sql.texts(Sql.column(wanted, Wanted::saga)),
                        Sql.texts(Sql.column(wanted, Wanted::name))));
    }

    /** Those of the drivers that are held and still drive their sagas, though their rows or their sagas' may be locked by others. */
    public Set<Long> held(Connection connection, String owner, Collection<Driver> drivers) throws SQLException {
        return new HashSet<>(held.query(
                connection,
                row -> row.getLong("id"),
                Sql.bigints(Sql.column(drivers, Driver::job)),
                Sql.bigints(Sql.column(drivers, Driver::token)),
                owner,
                Sql.texts(Sql.column(drivers, Driver::saga))));
    }

    /** Ends a session, and with it its transaction. */
    public boolean terminate(Connection connection, int backend) throws SQLException {
        return terminate
                .query(connection, row -> row.getBoolean("gone"), backend)
                .contains(true);
    }

    /** Writes what belongs to sagas that are locked; gives the new record of each. */
    public Map<String, Instant> write(
            Connection connection, String owner, List<SagaWrite> writes, boolean deleteCompleted) throws SQLException {
        List<StepOf> changed = writes.stream().flatMap(SagaWrite::stepsOf).toList();
        if (!changed.isEmpty()) {
            writeSteps(connection, changed);
        }
        Map<String, Instant> revisions = writeSagas(connection, writes);
        writeDrivers(connection, owner, writes, deleteCompleted);
        return revisions;
    }

    private void writeSteps(Connection connection, List<StepOf> changed) throws SQLException {
        steps.update(
                connection,
                Sql.texts(Sql.column(changed, StepOf::saga)),
                Sql.texts(Sql.column(changed, each -> each.row().key().step())),
                Sql.texts(Sql.column(changed, each -> each.row().key().branch())),
                Sql.texts(Sql.column(changed, each -> Words.of(each.row().status()))),
                Sql.integers(Sql.column(changed, each -> each.row().counts().attempts())),
                Sql.integers(Sql.column(changed, each -> each.row().counts().compensations())),
                Sql.booleans(Sql.column(changed, each -> each.row().counts().unanswered())),
                Sql.texts(Sql.column(changed, each -> each.row().outcome().chosen())),
                Sql.texts(Sql.column(changed, each -> each.row().outcome().result())),
                Sql.texts(Sql.column(changed, each -> each.row().outcome().error())),
                Sql.integers(Sql.column(changed, each -> each.row().outcome().ended())),
                Sql.instants(Sql.column(changed, each -> each.row().dueAt())),
                Sql.instants(Sql.column(changed, each -> each.row().freeAt())));
    }

    private Map<String, Instant> writeSagas(Connection connection, List<SagaWrite> writes) throws SQLException {
        List<SagaWrite.Consumed> consumed =
                writes.stream().flatMap(write -> write.consumed().stream()).toList();
        Map<String, Instant> revisions = new HashMap<>();
        sagas.query(
                connection,
                row -> revisions.put(row.getString("id"), Sql.requiredInstant(row, "updated_at")),
                Sql.texts(Sql.column(writes, SagaWrite::id)),
                Sql.texts(Sql.column(writes, write -> Words.of(write.status()))),
                Sql.texts(Sql.column(writes, SagaWrite::state)),
                Sql.texts(Sql.column(writes, write -> write.progress().step())),
                Sql.booleans(Sql.column(writes, write -> write.progress().pivoted())),
                Sql.integers(Sql.column(writes, write -> write.progress().ended())),
                Sql.texts(Sql.column(writes, write -> write.progress().reason())),
                Sql.booleans(Sql.column(writes, SagaWrite::told)),
                Sql.booleans(Sql.column(writes, SagaWrite::keepsDriver)),
                Sql.bigints(Sql.column(consumed, SagaWrite.Consumed::signal)),
                Sql.texts(Sql.column(consumed, SagaWrite.Consumed::by)));
        return revisions;
    }

    private void writeDrivers(Connection connection, String owner, List<SagaWrite> writes, boolean deleteCompleted)
            throws SQLException {
        List<SagaWrite> onward = of(writes, DriverDeed.GoOn.class);
        if (!onward.isEmpty()) {
            all(onward, goOn.update(connection, jobs(onward), tokens(onward), owner, losses(onward)));
        }
        List<SagaWrite> back = of(writes, DriverDeed.PutBack.class);
        if (!back.isEmpty()) {
            int written = putBack.update(
                    connection,
                    jobs(back),
                    tokens(back),
                    owner,
                    Sql.instants(Sql.column(back, write -> ((DriverDeed.PutBack) write.deed()).until())),
                    losses(back));
            all(back, written);
        }
        List<SagaWrite> over = of(writes, DriverDeed.End.class);
        if (!over.isEmpty()) {
            all(over, (deleteCompleted ? delete : end).update(connection, jobs(over), tokens(over), owner));
        }
    }

    /** They are locked, so all are written; or else somebody has ended the transaction that locked them. */
    private static void all(List<SagaWrite> writes, int written) throws SQLException {
        if (written != writes.size()) {
            throw new SQLException(
                    "drivers of sagas are not held any more, of " + writes.size() + " only " + written, "XX000");
        }
    }

    private static List<SagaWrite> of(List<SagaWrite> writes, Class<? extends DriverDeed> deed) {
        return writes.stream().filter(write -> deed.isInstance(write.deed())).toList();
    }

    private static Object jobs(List<SagaWrite> writes) {
        return Sql.bigints(Sql.column(writes, write -> write.driver().job()));
    }

    private static Object tokens(List<SagaWrite> writes) {
        return Sql.bigints(Sql.column(writes, write -> write.driver().token()));
    }

    private static Object losses(List<SagaWrite> writes) {
        return Sql.integers(Sql.column(writes, write -> write.deed().losses()));
    }
}
