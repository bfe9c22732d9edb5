package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.PreparingOutbox;
import io.rowlock.internal.outbox.Statements;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.internal.sql.SagaRow.Origin;
import io.rowlock.saga.internal.sql.SagaRow.Parent;
import io.rowlock.saga.internal.sql.StartSql;
import io.rowlock.saga.internal.sql.StartSql.Driven;
import io.rowlock.saga.internal.sql.StartSql.NewSaga;
import io.rowlock.saga.internal.sql.StartSql.Present;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Writes new sagas and the jobs that drive them, in the transaction of whoever starts them. */
final class Starts {
    private static final int TRIES = 5;

    private final StartSql sql;
    private final PreparingOutbox outbox;
    private final StateCodec codec;
    private final String queue;

    Starts(StartSql sql, PreparingOutbox outbox, StateCodec codec, String queue) {
        this.sql = sql;
        this.outbox = outbox;
        this.codec = codec;
        this.queue = queue;
    }

    /** All of a new saga that can be refused before any SQL. */
    <S> NewSaga prepare(Saga<S> definition, String id, S state, @Nullable Parent parent) {
        if (state == null) {
            throw new InvalidUseException("The first state of a saga must not be null (saga=" + id + ")");
        }
        String key = definition.businessKey().map(of -> of.apply(state)).orElse(null);
        if (definition.businessKey().isPresent()) {
            Checks.name("The business key of " + definition, key);
        }
        return new NewSaga(
                Checks.name("The id of a saga", id),
                new Origin(definition.name(), definition.version(), key, key, null, parent),
                readable(definition, state, "The first state of saga " + id),
                definition.deadline().orElse(null));
    }

    /** Written, and read back: else no step could ever begin. */
    private <S> String readable(Saga<S> definition, S state, String what) {
        String json = codec.write(state, what);
        try {
            codec.read(json, definition.stateType());
        } catch (Exception e) {
            throw new InvalidUseException(
                    what + " cannot be read back as " + definition.stateType().getName() + ", best make that a record: "
                            + e.getMessage(),
                    e);
        }
        return json;
    }

    /** Writes it; or tells which one is there. */
    SagaStarted start(Connection connection, NewSaga saga) throws SQLException {
        return started(saga, insert(connection, saga, false).orElse(null));
    }

    /**
     * Writes them in the order of their ids, or tells which ones are there; the answers are in the order given. Two of one id are
     * one start after the other, as they are elsewhere.
     */
    List<SagaStarted> startAll(Connection connection, List<NewSaga> sagas) throws SQLException {
        Map<String, NewSaga> byId = new TreeMap<>();
        sagas.forEach(saga -> byId.putIfAbsent(saga.id(), saga));
        Set<NewSaga> written = Collections.newSetFromMap(new IdentityHashMap<>());
        for (List<Driven> part : Statements.of(driven(List.copyOf(byId.values())), Starts::bytes)) {
            Set<String> ids = write(connection, part);
            part.stream()
                    .map(Driven::saga)
                    .filter(saga -> ids.contains(saga.id()))
                    .forEach(written::add);
        }
        List<SagaStarted> answers = new ArrayList<>(sagas.size());
        for (NewSaga saga : sagas) {
            answers.add(started(
                    saga,
                    written.contains(saga)
                            ? null
                            : insert(connection, saga, true).orElse(null)));
        }
        return answers;
    }

    private static SagaStarted started(NewSaga saga, @Nullable Present present) {
        return present == null
                ? new SagaStarted(saga.id(), false)
                : new SagaStarted(same(saga, present).id(), true);
    }

    private static int bytes(Driven saga) {
        return saga.saga().state().length();
    }

    /** Writes it, unless it or another one is there: tells what is in its way, or in its place. */
    Optional<InPlace> startChild(Connection connection, NewSaga saga) throws SQLException {
        return insert(connection, saga, false).map(present -> new InPlace(inTheWay(saga, present)));
    }

    /**
     * What is there in place of a child.
     *
     * @param inTheWay in words, if it is another one; null if it is that child, from an earlier attempt
     */
    record InPlace(@Nullable String inTheWay) {}

    private static @Nullable String inTheWay(NewSaga saga, Present present) {
        Origin origin = saga.origin();
        if (!present.id().equals(saga.id())) {
            return "its business key " + origin.businessKey() + " is held by saga " + present.id();
        }
        if (!present.name().equals(origin.name())) {
            return "its id " + saga.id() + " is that of a saga " + present.name();
        }
        return Objects.equals(present.parent(), origin.parent())
                ? null
                : "its id " + saga.id() + " is that of a saga which is not its parent's";
    }

    /** Writes it; or gives the one of its id, or else the one that holds its business key: that first, if a write was in vain. */
    private Optional<Present> insert(Connection connection, NewSaga saga, boolean inVain) throws SQLException {
        for (int i = 0; i < TRIES; i++) {
            if ((i > 0 || !inVain) && !write(connection, driven(List.of(saga))).isEmpty()) {
                return Optional.empty();
            }
            Optional<Present> present = sql.present(connection, saga);
            if (present.isPresent()) {
                return present;
            }
            Optional<String> refusal = sql.refusal(connection);
            if (refusal.isPresent()) {
                throw new InvalidUseException(refusal.get() + " (saga=" + saga.id() + ")");
            }
            // whoever held the business key has finished meanwhile
        }
        throw new InvalidUseException(
                "The business key of a saga changes hands all the time; start it again (saga=" + saga.id() + ")");
    }

    private static Present same(NewSaga saga, Present present) {
        if (!present.name().equals(saga.origin().name())) {
            throw new InvalidUseException("The id " + saga.id() + " is that of a saga " + present.name() + "; a saga "
                    + saga.origin().name() + " needs another one");
        }
        return present;
    }

    /** Writes those that can be written, and tells of their drivers; gives their ids. */
    private Set<String> write(Connection connection, List<Driven> sagas) throws SQLException {
        Map<String, Enqueued> written = sql.insert(connection, sagas);
        outbox.written(connection, List.copyOf(written.values()));
        return written.keySet();
    }

    private List<Driven> driven(List<NewSaga> sagas) {
        List<NewJob> drivers = outbox.prepare(sagas.stream().map(this::driver).toList());
        List<Driven> driven = new ArrayList<>(sagas.size());
        for (int i = 0; i < sagas.size(); i++) {
            driven.add(new Driven(sagas.get(i), drivers.get(i)));
        }
        return driven;
    }

    private JobRequest<String> driver(NewSaga saga) {
        JobKind<String> kind =
                Definitions.driverKind(saga.origin().name(), saga.origin().version());
        return JobRequest.of(kind, saga.id(), job -> {
            job.queue(queue);
            String subject = saga.origin().subject();
            if (subject != null) {
                job.subject(subject);
            }
        });
    }
}
