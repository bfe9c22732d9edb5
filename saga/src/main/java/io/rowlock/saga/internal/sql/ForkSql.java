package io.rowlock.saga.internal.sql;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.Sql;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Copies a part of a saga into a new one, under the lock of the old one's row. */
public final class ForkSql {
    /*
     * What the fork has beyond a start: how far it is, and its headers. Waits as a start does, at most as long as the lock
     * timeout. Index: the primary key, rowlock_saga_holder.
     */
    static final String INSERT = """
            /* rowlock:fork-saga */
            INSERT INTO rowlock_saga (id, name, version, business_key, subject, state, step, pivoted, ended, reason, deadline, headers,
              queue)
            SELECT $1, name, $3::integer, $4, subject, $5::json, $6, $7::boolean, $8::integer, $9,
                   clock_timestamp() + $10::bigint * interval '1 microsecond', headers, queue
            FROM rowlock_saga
            WHERE id = $2
            ON CONFLICT DO NOTHING
            """;

    /*
     * A step that is not a choice remembers in chosen which saga did it: the keys of its calls are of that one. Index: the
     * primary key. Rows: one.
     */
    static final String STEP = """
            /* rowlock:fork-step */
            INSERT INTO rowlock_saga_step (saga, step, branch, status, attempts, chosen, result, error, ended, started_at, finished_at)
            SELECT $2, step, branch, status, attempts, $5, $6::json, error, ended, started_at, finished_at
            FROM rowlock_saga_step
            WHERE saga = $1 AND step = $3 AND branch = $4
            """;

    /* Index: rowlock_operation_saga. */
    static final String REDACTED = """
            /* rowlock:saga-redacted */
            SELECT EXISTS (SELECT 1 FROM rowlock_operation WHERE saga = $1 AND what = 'redact')
            """;

    /* From a step behind the first, so that it took over what was done. Index: rowlock_operation_saga. */
    static final String FORKED = """
            /* rowlock:saga-forked */
            SELECT EXISTS (SELECT 1 FROM rowlock_operation WHERE saga = $1 AND what = 'fork' AND step <> $2)
            """;

    /* Null where no step has recorded another one. Index: the primary key. */
    static final String FIRST_STATE =
            "/* rowlock:first-state-of-saga */ SELECT first_state FROM rowlock_saga WHERE id = $1";

    private final Sql insert;
    private final Sql firstState;
    private final Sql step;
    private final Sql redacted;
    private final Sql forked;

    public ForkSql(Names names) {
        this.insert = new Sql(names, INSERT);
        this.firstState = new Sql(names, FIRST_STATE);
        this.step = new Sql(names, STEP);
        this.redacted = new Sql(names, REDACTED);
        this.forked = new Sql(names, FORKED);
    }

    /** The new saga. */
    public record Fork(
            String id,
            int version,
            @Nullable String businessKey,
            String state,
            SagaRow.Progress progress,
            @Nullable Duration deadline) {}

    /** False if there is one of the id, or one that holds the business key. */
    public boolean insert(Connection connection, String old, Fork fork) throws SQLException {
        return insert.update(
                        connection,
                        fork.id(),
                        old,
                        fork.version(),
                        fork.businessKey(),
                        fork.state(),
                        fork.progress().step(),
                        fork.progress().pivoted(),
                        fork.progress().ended(),
                        fork.progress().reason(),
                        fork.deadline() == null ? null : Sql.micros(fork.deadline()))
                == 1;
    }

    /** Copies a step, with the result in place of the old one's. */
    public void step(
            Connection connection,
            String old,
            String fork,
            StepKey key,
            @Nullable String chosen,
            @Nullable String result)
            throws SQLException {
        step.update(connection, old, fork, key.step(), key.branch(), chosen, result);
    }

    /** The state it began with, if a step has recorded another one since. */
    public @Nullable String firstState(Connection connection, String saga) throws SQLException {
        List<Optional<String>> rows =
                firstState.query(connection, row -> Optional.ofNullable(row.getString("first_state")), saga);
        return rows.get(0).orElse(null);
    }

    /** Whether a fork has taken over what this saga had done before a step behind this first one. */
    public boolean forked(Connection connection, String saga, String first) throws SQLException {
        return forked.query(connection, row -> row.getBoolean(1), saga, first).get(0);
    }

    public boolean redacted(Connection connection, String saga) throws SQLException {
        return redacted.query(connection, row -> row.getBoolean(1), saga).get(0);
    }
}
