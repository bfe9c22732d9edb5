package io.rowlock.saga.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.job.By;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaNode.Child;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.internal.engine.Ledger.Beside;
import io.rowlock.saga.internal.engine.Starts.InPlace;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.SagaRow;
import io.rowlock.saga.internal.sql.SagaRow.Parent;
import io.rowlock.saga.internal.sql.StartSql.NewSaga;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a saga does to others: alerts for people, children, its parent. Written in the transaction that records why. */
final class Relations {
    /** What a child tells its parent at its end, as JSON; else a text says what was in its way. */
    static final String ENDED = "true";

    private final Definitions definitions;
    private final Starts starts;
    private final Wishes wishes;
    private final AlertSql alerts;
    private final Ledger ledger;
    private final RowlockListener listener;
    private final StateCodec codec;

    Relations(
            Definitions definitions,
            Starts starts,
            Wishes wishes,
            AlertSql alerts,
            Ledger ledger,
            RowlockListener listener,
            StateCodec codec) {
        this.definitions = definitions;
        this.starts = starts;
        this.wishes = wishes;
        this.alerts = alerts;
        this.ledger = ledger;
        this.listener = listener;
        this.codec = codec;
    }

    /** Tells people. */
    Beside alert(AlertCause cause, Instance<?> saga, String reason) {
        long driver = saga.row().driver() == null ? 0 : saga.row().driver();
        AlertSql.Cause about =
                new AlertSql.Cause(saga.definition().name(), driver, "saga " + saga.id() + ": " + reason, about(saga));
        return new Beside() {
            private List<AlertRaised> raised = List.of();

            @Override
            public void write(Connection connection) throws SQLException {
                raised = alerts.raise(connection, cause, List.of(about));
            }

            @Override
            public void committed() {
                raised.forEach(listener::on);
            }
        };
    }

    /** By what its alerts are found when what it says is to be taken out. */
    private static String about(Instance<?> saga) {
        String subject = saga.row().origin().subject();
        String key = saga.row().origin().businessKey();
        return subject != null ? subject : key != null ? key : "";
    }

    /** What an end brings with it: an alert if a person is needed, a signal to a parent. */
    List<Beside> atEnd(Instance<?> saga) {
        List<Beside> beside = new ArrayList<>();
        String reason = String.valueOf(saga.progress().reason());
        if (saga.status() == SagaStatus.STUCK) {
            beside.add(alert(AlertCause.SAGA_STUCK, saga, reason));
        } else if (saga.status() == SagaStatus.COMPENSATION_FAILED) {
            beside.add(alert(AlertCause.SAGA_COMPENSATION_FAILED, saga, reason));
        }
        Parent parent = saga.row().origin().parent();
        if (parent != null && saga.status().finished()) {
            beside.add(connection -> wishes.signal(
                    connection, SagaKeys.childSignal(parent.step()), SagaTarget.saga(parent.saga()), ENDED));
        }
        return beside;
    }

    /** Tells listeners of an end that is recorded. */
    void ended(Instance<?> saga) {
        Events.ofEnd(saga).ifPresent(listener::on);
    }

    /**
     * Starts a child. That of an earlier attempt is that child, and may have ended: the parent is told to look. So it is where
     * another saga has its id or holds its business key, as that must not fail its record.
     */
    <S, C> Beside startChild(Instance<S> parent, Child<S, C> child, C state) {
        Saga<C> definition = definitions.newest(child.type());
        NewSaga prepared = starts.prepare(
                definition, SagaKeys.child(parent.id(), child.name()), state, new Parent(parent.id(), child.name()));
        NewSaga saga = prepared.origin().subject() == null
                ? prepared.about(parent.row().origin().subject())
                : prepared;
        return connection -> {
            Optional<InPlace> present = starts.startChild(connection, saga);
            if (present.isPresent()) {
                String words = present.get().inTheWay();
                wishes.signal(
                        connection,
                        SagaKeys.childSignal(child.name()),
                        SagaTarget.saga(parent.id()),
                        words == null ? ENDED : codec.write(words, "What is in the way of a child"));
            }
        };
    }

    /** Has the instance know of signals that have come since it was read; true if there is one. */
    boolean hear(Instance<?> saga) throws SQLException {
        return saga.hear(ledger.signals(saga.id()));
    }

    /** Whether there is a signal for it that this instance does not know, or that is still to be brought: that is hurried. */
    Overlooked overlooked(Instance<?> saga, String signal) throws SQLException {
        return ledger.call(connection -> {
            if (ledger.hasSignal(connection, saga.id(), signal)) {
                return Overlooked.RECORDED;
            }
            return hurry(connection, saga) ? Overlooked.UNDER_WAY : Overlooked.NOTHING;
        });
    }

    /** What a wait may have overlooked. */
    enum Overlooked {
        NOTHING,
        RECORDED,
        UNDER_WAY
    }

    /** Has signals brought that were sent before the saga was there. */
    void hurrySignals(Instance<?> saga) throws SQLException {
        ledger.call(connection -> hurry(connection, saga));
    }

    private boolean hurry(Connection connection, Instance<?> saga) throws SQLException {
        return wishes.hurry(connection, saga.id(), saga.row().origin().businessKey());
    }

    /** Asks a child to end. */
    Beside cancel(String child, By by) {
        return connection -> wishes.cancel(connection, child, by);
    }

    /**
     * How a child stands.
     *
     * @param undone whether it is finished, and what it did is undone, perhaps by hand
     */
    record ChildState(
            SagaStatus status,
            boolean undone,
            String state,
            @Nullable String reason) {}

    /** The child that this step of the parent started, and no other saga of its id. */
    Optional<ChildState> child(String parent, Child<?, ?> child) throws SQLException {
        Parent own = new Parent(parent, child.name());
        return ledger.loadOrSnooze(SagaKeys.child(parent, child.name()))
                .filter(loaded -> own.equals(loaded.saga().origin().parent())
                        && loaded.saga().origin().name().equals(child.type().name()))
                .map(Relations::state);
    }

    private static ChildState state(Loaded child) {
        SagaRow row = child.saga();
        boolean undone =
                row.status() == SagaStatus.COMPENSATED || (row.status() == SagaStatus.RESOLVED && Ways.back(child));
        return new ChildState(row.status(), undone, row.state(), row.progress().reason());
    }
}
