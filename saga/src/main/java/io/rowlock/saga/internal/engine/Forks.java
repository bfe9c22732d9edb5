package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.engine.Failures;
import io.rowlock.job.By;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaFork;
import io.rowlock.saga.SagaFork.Outcome;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.engine.Branchings.Copied;
import io.rowlock.saga.internal.sql.ForkSql;
import io.rowlock.saga.internal.sql.ForkSql.Fork;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.OperateSql;
import io.rowlock.saga.internal.sql.OperateSql.Standing;
import io.rowlock.saga.internal.sql.SagaRow;
import io.rowlock.saga.internal.sql.SagaRow.Origin;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import io.rowlock.saga.internal.sql.StartSql;
import io.rowlock.saga.internal.sql.StartSql.NewSaga;
import io.rowlock.saga.internal.sql.WishSql;
import io.rowlock.saga.internal.sql.WishSql.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Starts sagas in the middle, from what another has done. */
final class Forks {
    private static final int LONGEST = 1_500;

    private final WishSql wishSql;
    private final ForkSql sql;
    private final StartSql starts;
    private final OperateSql operations;
    private final Restarts restarts;
    private final Definitions definitions;
    private final StateCodec codec;

    Forks(
            WishSql wishSql,
            ForkSql sql,
            StartSql starts,
            OperateSql operations,
            Restarts restarts,
            Definitions definitions,
            StateCodec codec) {
        this.wishSql = wishSql;
        this.sql = sql;
        this.starts = starts;
        this.operations = operations;
        this.restarts = restarts;
        this.definitions = definitions;
        this.codec = codec;
    }

    /** What is asked for. */
    record Wanted(String id, String fromStep, String newId, By by) {}

    /** Null if somebody has the row locked. */
    @Nullable
    SagaFork fork(Connection connection, Wanted wanted) throws SQLException {
        Optional<Held> held = wishSql.lock(connection, wanted.id());
        if (held.isEmpty()) {
            return wishSql.exists(connection, wanted.id())
                    ? null
                    : refused(wanted, Outcome.UNKNOWN, "there is no saga " + wanted.id());
        }
        SagaStatus status = held.get().status();
        if (status.needsPerson()) {
            return refused(
                    wanted,
                    Outcome.UNFINISHED,
                    "saga " + wanted.id() + " is " + status + ", and could go on beside its fork: resolve it first");
        } else if (!status.finished()) {
            return refused(wanted, Outcome.HEALTHY, "saga " + wanted.id() + " is " + status + " and goes on by itself");
        }
        Loaded old = restarts.load(connection, wanted.id());
        String name = old.saga().origin().name();
        Saga<?> newest = definitions
                .newest(name)
                .orElseThrow(() -> new InvalidUseException("Saga " + name
                        + " is not registered in this process: fork it where it is (saga=" + wanted.id() + ")"));
        return fork(connection, wanted, old, newest);
    }

    private <S> SagaFork fork(Connection connection, Wanted wanted, Loaded old, Saga<S> newest) throws SQLException {
        try {
            if (sql.redacted(connection, wanted.id())) {
                throw new RefusedException(
                        Outcome.NO_STATE, "saga " + wanted.id() + " was redacted: its states are gone");
            }
            String first = sql.firstState(connection, wanted.id());
            Copied copied = new Branchings<>(newest, old, codec, first).before(wanted.fromStep());
            refuseTwice(connection, wanted, newest);
            return write(connection, wanted, old.saga(), newest, copied);
        } catch (RefusedException e) {
            return refused(wanted, e.outcome, e.words);
        }
    }

    /** What a fork has taken over, it may undo: another one must not take it for done. */
    private <S> void refuseTwice(Connection connection, Wanted wanted, Saga<S> newest)
            throws SQLException, RefusedException {
        String first = newest.nodes().get(0).name();
        if (!wanted.fromStep().equals(first)
                && sql.forked(connection, wanted.id(), first)
                && !wishSql.exists(connection, wanted.newId())) {
            throw new RefusedException(
                    Outcome.FORKED_ALREADY,
                    "a fork of saga " + wanted.id()
                            + " has taken over what is done, and may undo it: fork that one, or from " + first);
        }
    }

    private <S> SagaFork write(Connection connection, Wanted wanted, SagaRow old, Saga<S> newest, Copied copied)
            throws SQLException, RefusedException {
        String key = old.origin().businessKey() == null
                ? copied.businessKey()
                : old.origin().businessKey();
        Progress progress = new Progress(
                copied.last(),
                copied.pivoted(),
                copied.ended(),
                Failures.cut("forked from saga " + wanted.id() + " at step " + wanted.fromStep(), LONGEST));
        Fork fork = new Fork(
                wanted.newId(),
                newest.version(),
                key,
                copied.state(),
                progress,
                newest.deadline().orElse(null));
        if (!sql.insert(connection, wanted.id(), fork)) {
            return present(connection, wanted, old, fork);
        }
        for (Branchings.CopiedStep step : copied.steps()) {
            sql.step(connection, wanted.id(), wanted.newId(), step.key(), step.chosen(), step.result());
        }
        long driver = restarts.drive(connection, old, wanted.newId(), newest.version());
        operations.saga(connection, wanted.newId(), new Standing(SagaStatus.RUNNING, null, progress, null), driver);
        operations.note(connection, "fork", wanted.id(), wanted.fromStep(), wanted.by());
        operations.note(connection, "forked", wanted.newId(), wanted.fromStep(), wanted.by());
        return new SagaFork(
                Outcome.FORKED,
                wanted.newId(),
                "begins at " + wanted.fromStep() + " of " + newest + "; "
                        + copied.steps().size() + " rows of steps before it were copied as done");
    }

    private SagaFork present(Connection connection, Wanted wanted, SagaRow old, Fork fork) throws SQLException {
        Origin origin = new Origin(
                old.origin().name(),
                fork.version(),
                fork.businessKey(),
                old.origin().subject(),
                null,
                null);
        String holder = starts.present(connection, new NewSaga(wanted.newId(), origin, fork.state(), null))
                .map(StartSql.Present::id)
                .orElse(wanted.newId());
        return holder.equals(wanted.newId())
                ? refused(wanted, Outcome.EXISTS, "there is a saga " + holder + " already")
                : new SagaFork(
                        Outcome.KEY_HELD,
                        holder,
                        "the business key " + fork.businessKey() + " is held by saga " + holder
                                + ", which is not finished: resolve that one first");
    }

    private static SagaFork refused(Wanted wanted, Outcome outcome, String words) {
        return new SagaFork(outcome, wanted.newId(), words);
    }

    /** Why there can be no fork. */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;
        private final Outcome outcome;
        private final String words;

        RefusedException(Outcome outcome, String words) {
            super(words);
            this.outcome = outcome;
            this.words = words;
        }
    }
}
