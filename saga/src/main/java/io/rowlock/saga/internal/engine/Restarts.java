package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.Failures;
import io.rowlock.job.By;
import io.rowlock.job.Outbox;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.sql.LoadSql;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.OperateSql;
import io.rowlock.saga.internal.sql.OperateSql.Standing;
import io.rowlock.saga.internal.sql.SagaRow;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Gives sagas that waited for a person a new driver. Under the lock of the saga's row, which has none: so there is never more
 * than one.
 */
final class Restarts {
    private static final int LONGEST_REASON = 1_500;

    private final OperateSql sql;
    private final LoadSql loads;
    private final Outbox outbox;
    private final String queue;

    Restarts(OperateSql sql, LoadSql loads, Outbox outbox, String queue) {
        this.sql = sql;
        this.loads = loads;
        this.outbox = outbox;
        this.queue = queue;
    }

    /** A saga that is locked and there. */
    Loaded load(Connection connection, String id) throws SQLException {
        return Objects.requireNonNull(loads.load(connection, List.of(id)).get(id), "a locked saga is there");
    }

    /** It goes on so. */
    void restart(Connection connection, SagaRow saga, Standing standing) throws SQLException {
        sql.saga(
                connection,
                saga.id(),
                standing,
                drive(connection, saga, saga.id(), saga.origin().version()));
    }

    /** Writes the job that drives a saga, in the queue of that saga; its headers are to be set. */
    long drive(Connection connection, SagaRow saga, String id, int version) throws SQLException {
        String subject = subject(saga);
        String in = sql.queue(connection, saga.id()).orElse(queue);
        return outbox.enqueue(connection, Definitions.driverKind(saga.origin().name(), version), id, job -> {
                    job.queue(in);
                    if (subject != null) {
                        job.subject(subject);
                    }
                })
                .id();
    }

    private static @Nullable String subject(SagaRow saga) {
        return saga.origin().subject() == null
                ? saga.origin().businessKey()
                : saga.origin().subject();
    }

    /** One that is stuck before its pivot is undone, as it was asked to end. */
    void cancelStuck(Connection connection, String id, By by) throws SQLException {
        SagaRow saga = load(connection, id).saga();
        String cancel = by.who() + ": " + by.why();
        Progress progress = new Progress(
                saga.progress().step(),
                false,
                saga.progress().ended(),
                Failures.cut("cancelled: " + cancel, LONGEST_REASON));
        restart(connection, saga, new Standing(SagaStatus.COMPENSATING, null, progress, cancel));
    }

    /** Says that somebody did it. */
    void note(Connection connection, String what, String id, By by) throws SQLException {
        sql.note(connection, what, id, null, by);
    }
}
