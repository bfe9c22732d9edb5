package io.rowlock.saga.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.job.By;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaRequest;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStartOptions;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.Sagas;
import io.rowlock.saga.internal.sql.StartSql.NewSaga;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.RowlockParts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sagas as rows. */
final class RowSagas implements Sagas {
    private final RowlockParts core;
    private final Definitions definitions;
    private final Starts starts;
    private final Wishes wishes;
    private final StateCodec codec;
    private final Patience patience;

    RowSagas(RowlockParts core, Definitions definitions, Starts starts, Wishes wishes, StateCodec codec) {
        this.core = core;
        this.definitions = definitions;
        this.starts = starts;
        this.wishes = wishes;
        this.codec = codec;
        this.patience = new Patience(core);
    }

    @Override
    public <S> SagaStarted start(
            Connection connection, SagaType<S> type, String id, S state, Consumer<SagaStartOptions> options) {
        return startAll(connection, List.of(SagaRequest.of(type, id, state, options)))
                .get(0);
    }

    @Override
    public List<SagaStarted> startAll(Connection connection, List<? extends SagaRequest<?>> requests) {
        if (requests == null) {
            throw new InvalidUseException("A start needs a list of sagas, got null");
        }
        List<NewSaga> sagas = new ArrayList<>(requests.size());
        for (SagaRequest<?> request : requests) {
            sagas.add(prepare(request));
        }
        TransactionCheck.require(connection, "start a saga");
        try {
            return starts.startAll(connection, sagas);
        } catch (SQLException e) {
            throw new DatabaseException("The sagas could not be started " + some(sagas), e);
        }
    }

    private <S> NewSaga prepare(@Nullable SagaRequest<S> request) {
        if (request == null) {
            throw new InvalidUseException("A saga to start must not be null");
        }
        return starts.prepare(definitions.newest(request.type()), request.id(), request.state(), null)
                .about(request.options().subject().orElse(null));
    }

    private static String some(List<NewSaga> sagas) {
        return sagas.size() == 1 ? "(saga=" + sagas.get(0).id() + ")" : "(sagas=" + sagas.size() + ")";
    }

    @Override
    public <T> void signal(Connection connection, SagaSignal<T> signal, SagaTarget target, T payload) {
        if (signal == null || target == null || payload == null) {
            throw new InvalidUseException("A signal needs its name, its target and what it carries; got " + signal
                    + ", " + target + ", " + (payload == null ? "null" : "a payload"));
        }
        String json = codec.write(payload, "What signal " + signal.name() + " carries");
        TransactionCheck.require(connection, "signal a saga");
        wishes.signal(connection, signal.name(), target, json);
    }

    @Override
    public SagaCancellation cancel(String id, By by) {
        Checks.name("The id of a saga", id);
        if (by == null) {
            throw new InvalidUseException("Say who cancels the saga and why, got null (saga=" + id + ")");
        }
        Leave.require(core.access(), Access.of(Action.CANCEL, Target.SAGA, by, id));
        return patience.patiently("cancel the saga", id, connection -> wishes.cancelNow(connection, id, by));
    }
}
