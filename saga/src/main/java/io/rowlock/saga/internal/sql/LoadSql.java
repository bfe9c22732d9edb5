package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.sql.SagaRow.Origin;
import io.rowlock.saga.internal.sql.SagaRow.Parent;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import io.rowlock.saga.internal.sql.SagaRow.Wishes;
import io.rowlock.saga.internal.sql.SagaWrite.StepOf;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads whole sagas; no locks. What is decided on them is checked again where it is written. */
public final class LoadSql {
    static final String COLUMNS =
            "id, name, version, business_key, subject, status, state, step, pivoted, ended, reason,"
                    + " cancel_reason, deadline, coalesce(deadline <= clock_timestamp(), false) AS over, late, driver, parent,"
                    + " parent_step, headers, updated_at";

    /* Index: the primary key. Rows: the ids given. */
    static final String SAGAS = "/* rowlock:load-sagas */ SELECT " + COLUMNS
            + ", clock_timestamp() AS now FROM rowlock_saga WHERE id = ANY($1::text[])";

    /*
     * Index: the primary key, saga by saga: in one condition for all of them the planner walks the whole table as long as it
     * has no statistics. Rows: as many as the definitions have steps.
     */
    static final String STEPS = """
            /* rowlock:load-saga-steps */
            SELECT s.saga, s.step, s.branch, s.status, s.attempts, s.compensation_attempts, s.unanswered, s.chosen, s.result, s.error,
                   s.ended, s.due_at, s.free_at
            FROM unnest($1::text[]) AS of_saga(id)
            CROSS JOIN LATERAL (
              SELECT saga, step, branch, status, attempts, compensation_attempts, unanswered, chosen, result, error, ended, due_at, free_at
              FROM rowlock_saga_step
              WHERE saga = of_saga.id OFFSET 0) s
            """;

    /*
     * Of each name the oldest. Index: rowlock_saga_signal_saga, saga by saga, as for the steps. Rows read: all signals of the
     * sagas; delivery bounds them.
     */
    static final String SIGNALS = """
            /* rowlock:load-saga-signals */
            SELECT s.saga, s.id, s.name, s.payload
            FROM unnest($1::text[]) AS of_saga(id)
            CROSS JOIN LATERAL (
              SELECT DISTINCT ON (name) saga, id, name, payload
              FROM rowlock_saga_signal
              WHERE saga = of_saga.id AND consumed_by IS NULL
              ORDER BY name, id) s
            """;

    private final Sql sagas;
    private final Sql steps;
    private final Sql signals;

    public LoadSql(Names names) {
        this.sagas = new Sql(names, SAGAS);
        this.steps = new Sql(names, STEPS);
        this.signals = new Sql(names, SIGNALS);
    }

    /**
     * One saga with all that belongs to it.
     *
     * @param now when it was read, by the database's clock
     * @param revision which record it is of
     */
    public record Loaded(SagaRow saga, List<StepRow> steps, List<SignalRow> signals, Instant now, Instant revision) {}

    /** Those of the ids that exist. */
    public Map<String, Loaded> load(Connection connection, Collection<String> ids) throws SQLException {
        Map<String, Loaded> loaded = new HashMap<>();
        if (ids.isEmpty()) {
            return loaded;
        }
        sagas.query(
                        connection,
                        row -> new Loaded(
                                saga(row),
                                new ArrayList<>(),
                                new ArrayList<>(),
                                Sql.requiredInstant(row, "now"),
                                Sql.requiredInstant(row, "updated_at")),
                        Sql.texts(ids))
                .forEach(each -> loaded.put(each.saga().id(), each));
        for (StepOf each :
                steps.query(connection, row -> new StepOf(row.getString("saga"), step(row)), Sql.texts(ids))) {
            Optional.ofNullable(loaded.get(each.saga()))
                    .ifPresent(saga -> saga.steps().add(each.row()));
        }
        for (SignalOf each : signals.query(connection, LoadSql::signal, Sql.texts(ids))) {
            Optional.ofNullable(loaded.get(each.saga()))
                    .ifPresent(saga -> saga.signals().add(each.row()));
        }
        return loaded;
    }

    /** The signals of a saga that have moved nothing, of each name the oldest. */
    public List<SignalRow> signals(Connection connection, String saga) throws SQLException {
        return signals.query(connection, LoadSql::signal, Sql.texts(List.of(saga))).stream()
                .map(SignalOf::row)
                .toList();
    }

    private record SignalOf(String saga, SignalRow row) {}

    static @Nullable Parent parent(ResultSet row) throws SQLException {
        String saga = row.getString("parent");
        return saga == null ? null : new Parent(saga, row.getString("parent_step"));
    }

    static SagaRow saga(ResultSet row) throws SQLException {
        long driver = row.getLong("driver");
        Long orNone = row.wasNull() ? null : driver;
        return new SagaRow(
                row.getString("id"),
                new Origin(
                        row.getString("name"),
                        row.getInt("version"),
                        row.getString("business_key"),
                        row.getString("subject"),
                        row.getString("headers"),
                        parent(row)),
                Words.read(SagaStatus.class, row.getString("status")),
                row.getString("state"),
                new Progress(
                        row.getString("step"), row.getBoolean("pivoted"), row.getInt("ended"), row.getString("reason")),
                new Wishes(
                        row.getString("cancel_reason"),
                        Sql.instant(row, "deadline"),
                        row.getBoolean("over"),
                        row.getBoolean("late")),
                orNone);
    }

    static StepRow step(ResultSet row) throws SQLException {
        return new StepRow(
                new StepRow.StepKey(row.getString("step"), row.getString("branch")),
                Words.read(StepStatus.class, row.getString("status")),
                new StepRow.Counts(
                        row.getInt("attempts"), row.getInt("compensation_attempts"), row.getBoolean("unanswered")),
                new StepRow.Outcome(
                        row.getString("chosen"), row.getString("result"), row.getString("error"), number(row)),
                Sql.instant(row, "due_at"),
                Sql.instant(row, "free_at"));
    }

    private static @Nullable Integer number(ResultSet row) throws SQLException {
        int ended = row.getInt("ended");
        return row.wasNull() ? null : ended;
    }

    private static SignalOf signal(ResultSet row) throws SQLException {
        return new SignalOf(
                row.getString("saga"),
                new SignalRow(row.getLong("id"), row.getString("name"), row.getString("payload")));
    }
}
