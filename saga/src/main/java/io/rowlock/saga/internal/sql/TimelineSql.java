package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.SagaTimeline.Operation;
import io.rowlock.saga.SagaTimeline.Signal;
import io.rowlock.saga.SagaTimeline.Step;
import io.rowlock.saga.SagaTimeline.StepTimes;
import io.rowlock.saga.StepStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Reads what happened to one saga; no locks. */
public final class TimelineSql {
    /* Index: the primary key. Rows: as many as the definition has steps and branches. */
    static final String STEPS = """
            /* rowlock:timeline-steps */
            SELECT step, branch, status, attempts, compensation_attempts, error, due_at, started_at, finished_at, compensated_at
            FROM rowlock_saga_step
            WHERE saga = $1
            ORDER BY started_at, ended NULLS LAST, step, branch
            """;

    /* Index: rowlock_saga_signal_saga. Rows: at most 1,000, as delivery bounds them. */
    static final String SIGNALS = """
            /* rowlock:timeline-signals */
            SELECT name, received_at, consumed_by
            FROM rowlock_saga_signal
            WHERE saga = $1
            ORDER BY id
            """;

    /* Index: rowlock_operation_saga, in its order. */
    static final String OPERATIONS = """
            /* rowlock:timeline-operations */
            SELECT what, step, at, who, why
            FROM rowlock_operation
            WHERE saga = $1
            ORDER BY id
            LIMIT 1000
            """;

    private final Sql steps;
    private final Sql signals;
    private final Sql operations;

    public TimelineSql(Names names) {
        this.steps = new Sql(names, STEPS);
        this.signals = new Sql(names, SIGNALS);
        this.operations = new Sql(names, OPERATIONS);
    }

    public List<Step> steps(Connection connection, String saga) throws SQLException {
        return steps.query(
                connection,
                row -> new Step(
                        row.getString("step"),
                        row.getString("branch"),
                        Words.read(StepStatus.class, row.getString("status")),
                        row.getInt("attempts"),
                        row.getInt("compensation_attempts"),
                        row.getString("error"),
                        Sql.instant(row, "due_at"),
                        new StepTimes(
                                Sql.requiredInstant(row, "started_at"),
                                Sql.instant(row, "finished_at"),
                                Sql.instant(row, "compensated_at"))),
                saga);
    }

    public List<Signal> signals(Connection connection, String saga) throws SQLException {
        return signals.query(
                connection,
                row -> new Signal(
                        row.getString("name"), Sql.requiredInstant(row, "received_at"), row.getString("consumed_by")),
                saga);
    }

    public List<Operation> operations(Connection connection, String saga) throws SQLException {
        return operations.query(
                connection,
                row -> new Operation(
                        row.getString("what"),
                        row.getString("step"),
                        Sql.requiredInstant(row, "at"),
                        row.getString("who"),
                        row.getString("why")),
                saga);
    }
}
