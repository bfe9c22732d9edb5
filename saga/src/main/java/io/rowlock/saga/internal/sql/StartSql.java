package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.job.Enqueued;
import io.rowlock.saga.SagaStatus;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Starts sagas in their callers' transactions. */
public final class StartSql {
    /*
     * Sagas and the jobs that drive them, in the order of the arrays. Waits for another transaction that starts one of the
     * same id, or of the same name under the same business key, and then does nothing about that one; in another isolation than
     * READ COMMITTED that would be an error of the server, so nothing is inserted there, nor where the ids of jobs may not be drawn
     * (promise P15). The drivers' ids are drawn first, so that each row is written once: an update of the saga behind the job
     * would be a second version of it in all its indexes. Index: the primary key, rowlock_saga_holder. Reads no table: a look-up of
     * the job would be planned as a walk while its table has one page, and stay one while it grows. "IS TRUE" keeps the sub-select
     * a hashed one; as a join it may be planned as a loop over a thousand times a thousand.
     */
    static final String INSERT = """
            /* rowlock:start-saga */
            WITH new AS MATERIALIZED (
              SELECT n.*, nextval('rowlock_job_id_seq'::regclass) AS driver
              FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[],
                          $10::text[], $11::text[], $12::integer[], $13::text[], $14::text[], $15::text[], $16::integer[])
                AS n(id, name, version, business_key, subject, state, deadline, parent, parent_step,
                     queue, kind, priority, about, payload, headers, max_attempts)
              WHERE current_setting('transaction_isolation') = 'read committed'
                AND has_sequence_privilege('rowlock_job_id_seq'::regclass, 'USAGE, UPDATE')),
            saga AS (
              INSERT INTO rowlock_saga (id, name, version, business_key, subject, state, deadline, parent, parent_step, driver, headers,
                queue)
              SELECT id, name, version, business_key, subject, state::json, clock_timestamp() + deadline * interval '1 microsecond',
                     parent, parent_step, driver, headers::json, queue
              FROM new
              ON CONFLICT DO NOTHING
              RETURNING driver)
            INSERT INTO rowlock_job (id, queue, kind, priority, subject, payload, headers, max_attempts, run_at)
            OVERRIDING SYSTEM VALUE
            SELECT driver, queue, kind, priority, about, payload::json, headers::json, max_attempts, clock_timestamp()
            FROM new
            WHERE (driver IN (SELECT driver FROM saga)) IS TRUE
            RETURNING id, payload, run_at
            """;

    /* No lock. Index: the primary key, rowlock_saga_holder. Rows: at most two; that of the id first. */
    static final String PRESENT = """
            /* rowlock:present-saga */
            SELECT id, name, status, parent, parent_step FROM rowlock_saga WHERE id = $1
            UNION ALL
            SELECT id, name, status, parent, parent_step FROM rowlock_saga
            WHERE name = $2 AND business_key = $3 AND finished_at IS NULL AND id <> $1
            """;

    /* Why nothing was inserted. */
    static final String PERMITTED = """
            /* rowlock:may-start-sagas */
            SELECT current_setting('transaction_isolation') AS isolation,
                   has_sequence_privilege('rowlock_job_id_seq'::regclass, 'USAGE, UPDATE') AS may_draw
            """;

    private final Names names;
    private final Sql insert;
    private final Sql present;
    private final Sql permitted;

    public StartSql(Names names) {
        this.names = names;
        this.insert = new Sql(names, INSERT);
        this.present = new Sql(names, PRESENT);
        this.permitted = new Sql(names, PERMITTED);
    }

    /** A saga to start. */
    public record NewSaga(
            String id,
            SagaRow.Origin origin,
            String state,
            @Nullable Duration deadline) {
        /** The same about this, or about what it was if that is null. */
        public NewSaga about(@Nullable String subject) {
            SagaRow.Origin about = new SagaRow.Origin(
                    origin.name(),
                    origin.version(),
                    origin.businessKey(),
                    subject == null ? origin.subject() : subject,
                    origin.headers(),
                    origin.parent());
            return subject == null ? this : new NewSaga(id, about, state, deadline);
        }
    }

    /** One that is there. */
    public record Present(String id, String name, SagaStatus status, SagaRow.@Nullable Parent parent) {}

    /** A saga, and the job that is to drive it. */
    public record Driven(NewSaga saga, NewJob driver) {}

    /**
     * Writes those of which there is none of the id, and none that holds the business key.
     *
     * @param sagas each with an id of its own
     * @return the drivers of those that were written, by saga
     */
    public Map<String, Enqueued> insert(Connection connection, List<Driven> sagas) throws SQLException {
        Map<String, Driven> byPayload = new HashMap<>();
        sagas.forEach(each -> byPayload.put(each.driver().payload(), each));
        Map<String, Enqueued> written = new HashMap<>();
        insert.query(
                connection,
                row -> {
                    Driven each = Objects.requireNonNull(byPayload.get(row.getString("payload")), "a driver's saga");
                    NewJob job = each.driver();
                    return written.put(
                            each.saga().id(),
                            new Enqueued(
                                    row.getLong("id"),
                                    job.kind(),
                                    job.queue(),
                                    job.priority(),
                                    Sql.requiredInstant(row, "run_at"),
                                    false,
                                    false));
                },
                parameters(sagas));
        return written;
    }

    private static @Nullable Object[] parameters(List<Driven> sagas) {
        return new @Nullable Object[] {
            Sql.texts(Sql.column(sagas, each -> each.saga().id())),
            Sql.texts(Sql.column(sagas, each -> each.saga().origin().name())),
            Sql.integers(Sql.column(sagas, each -> each.saga().origin().version())),
            Sql.texts(Sql.column(sagas, each -> each.saga().origin().businessKey())),
            Sql.texts(Sql.column(sagas, each -> each.saga().origin().subject())),
            Sql.texts(Sql.column(sagas, each -> each.saga().state())),
            Sql.bigints(Sql.column(sagas, each -> micros(each.saga().deadline()))),
            Sql.texts(Sql.column(sagas, each -> parent(each, SagaRow.Parent::saga))),
            Sql.texts(Sql.column(sagas, each -> parent(each, SagaRow.Parent::step))),
            Sql.texts(Sql.column(sagas, each -> each.driver().queue())),
            Sql.texts(Sql.column(sagas, each -> each.driver().kind())),
            Sql.integers(Sql.column(sagas, each -> each.driver().priority().level())),
            Sql.texts(Sql.column(sagas, each -> each.driver().subject())),
            Sql.texts(Sql.column(sagas, each -> each.driver().payload())),
            Sql.texts(Sql.column(sagas, each -> each.driver().headers())),
            Sql.integers(Sql.column(sagas, each -> each.driver().maxAttempts()))
        };
    }

    private static @Nullable Long micros(@Nullable Duration deadline) {
        return deadline == null ? null : Sql.micros(deadline);
    }

    private static @Nullable String parent(Driven each, Function<SagaRow.Parent, String> part) {
        SagaRow.Parent parent = each.saga().origin().parent();
        return parent == null ? null : part.apply(parent);
    }

    /** The one of the id, or else the one that holds the business key. */
    public Optional<Present> present(Connection connection, NewSaga saga) throws SQLException {
        List<Present> rows = present.query(
                connection,
                row -> new Present(
                        row.getString("id"),
                        row.getString("name"),
                        Words.read(SagaStatus.class, row.getString("status")),
                        LoadSql.parent(row)),
                saga.id(),
                saga.origin().name(),
                saga.origin().businessKey());
        return rows.stream().findFirst();
    }

    /** What keeps a transaction from starting sagas, and what to do about it; empty if nothing does. */
    public Optional<String> refusal(Connection connection) throws SQLException {
        return permitted.query(connection, this::refusal).get(0);
    }

    private Optional<String> refusal(ResultSet row) throws SQLException {
        if (!row.getString("isolation").equals("read committed")) {
            return Optional.of("A saga can be started in a READ COMMITTED transaction only");
        }
        return row.getBoolean("may_draw")
                ? Optional.empty()
                : Optional.of(
                        names.apply(
                                "This role may not draw ids from rowlock_job_id_seq, which starts of sagas need; as the owner run"
                                        + " GRANT USAGE ON SEQUENCE rowlock_job_id_seq TO that role (schema().script(0) has all grants)"));
    }
}
