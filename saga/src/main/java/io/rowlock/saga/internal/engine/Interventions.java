package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.engine.Failures;
import io.rowlock.job.By;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.OperateSql;
import io.rowlock.saga.internal.sql.OperateSql.Standing;
import io.rowlock.saga.internal.sql.SagaRow;
import io.rowlock.saga.internal.sql.SagaRow.Parent;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.Counts;
import io.rowlock.saga.internal.sql.StepRow.Outcome;
import io.rowlock.saga.internal.sql.WishSql;
import io.rowlock.saga.internal.sql.WishSql.Held;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * Who needs a person has no driver, so under the saga's row lock nobody else changes anything of it. What is decided here
 * leaves rows as a driver would have left them that was about to go on:
 *
 *   forward, a step       retrying and due, attempts anew                    (retry)
 *   forward, a join       waiting: its branches have passed, it joins again  (retry)
 *   forward, others       forgotten: a wait, choice or child begins again    (retry)
 *   forward, any          skipped or resolved: the saga goes on behind it
 *   back, a compensation  compensating and due, attempts anew; or skipped or resolved
 *
 * A saga that is stuck as its driver died does not say which way it went; its rows do (Ways).
 */

/** What people do to single sagas that wait for them. Every method answers null if somebody has the row locked. */
final class Interventions {
    private static final int LONGEST = 1_500;

    private final WishSql wishSql;
    private final OperateSql sql;
    private final Restarts restarts;
    private final Wishes wishes;
    private final Definitions definitions;
    private final StateCodec codec;

    Interventions(
            WishSql wishSql,
            OperateSql sql,
            Restarts restarts,
            Wishes wishes,
            Definitions definitions,
            StateCodec codec) {
        this.wishSql = wishSql;
        this.sql = sql;
        this.restarts = restarts;
        this.wishes = wishes;
        this.definitions = definitions;
        this.codec = codec;
    }

    /** What is done to a saga that waits for a person. */
    @FunctionalInterface
    private interface Deed {
        SagaAnswer on(Loaded saga) throws SQLException;
    }

    private @Nullable SagaAnswer waiting(Connection connection, String id, Deed deed) throws SQLException {
        Optional<Held> held = wishSql.lock(connection, id);
        if (held.isEmpty()) {
            return wishSql.exists(connection, id) ? null : SagaAnswer.UNKNOWN;
        }
        SagaStatus status = held.get().status();
        if (status.finished()) {
            return SagaAnswer.FINISHED;
        }
        boolean driven = held.get().driver() != 0;
        return status.needsPerson() && !driven ? deed.on(restarts.load(connection, id)) : SagaAnswer.HEALTHY;
    }

    @Nullable
    SagaAnswer retry(Connection connection, String id, By by) throws SQLException {
        return waiting(connection, id, saga -> {
            boolean back = Ways.back(saga);
            for (StepRow row : saga.steps()) {
                if (row.key().branch().isEmpty()) {
                    again(connection, saga, row, back);
                }
            }
            sql.note(connection, "retry", id, null, by);
            goOn(connection, saga, back, saga.saga().progress().ended(), null);
            return SagaAnswer.DONE;
        });
    }

    private void again(Connection connection, Loaded saga, StepRow row, boolean back) throws SQLException {
        String id = saga.saga().id();
        Outcome outcome = row.outcome();
        if (back) {
            if (Ways.failedBack(row)) {
                Counts anew =
                        new Counts(row.counts().attempts(), 0, row.counts().unanswered());
                sql.step(connection, id, new StepRow(row.key(), StepStatus.COMPENSATING, anew, outcome, null), true);
            }
            return;
        }
        boolean cutOff = row.status() == StepStatus.STARTED;
        boolean waitsForTry = row.status() == StepStatus.RETRYING;
        if (row.status() != StepStatus.FAILED && !waitsForTry && !cutOff) {
            return;
        }
        Counts anew = new Counts(0, row.counts().compensations(), row.counts().unanswered() || cutOff);
        Outcome open = new Outcome(outcome.chosen(), null, outcome.error(), null);
        if (row.counts().attempts() > 0 || waitsForTry || cutOff) {
            sql.step(connection, id, new StepRow(row.key(), StepStatus.RETRYING, anew, open, null), true);
        } else if (Ways.joins(saga, row)) {
            sql.step(connection, id, new StepRow(row.key(), StepStatus.WAITING, anew, open, null), false);
        } else {
            sql.forget(connection, id, row.key());
        }
    }

    @Nullable
    SagaAnswer skip(Connection connection, String id, String step, By by) throws SQLException {
        return waiting(connection, id, saga -> {
            StepRow row = Ways.stopped(saga, step);
            if (row == null) {
                return SagaAnswer.WRONG_STEP;
            }
            sql.note(connection, "skip", id, step, by);
            pass(connection, saga, row, StepStatus.SKIPPED, Failures.cut("skipped by " + words(by), LONGEST), null);
            return SagaAnswer.DONE;
        });
    }

    @Nullable
    SagaAnswer resolve(Connection connection, String id, String step, @Nullable Object state, By by)
            throws SQLException {
        return waiting(connection, id, saga -> {
            StepRow row = Ways.stopped(saga, step);
            if (row == null) {
                return SagaAnswer.WRONG_STEP;
            }
            String json = state == null ? null : json(saga, step, state);
            sql.note(connection, "resolve", id, step, by);
            pass(connection, saga, row, StepStatus.RESOLVED, Failures.cut("resolved by " + words(by), LONGEST), json);
            return SagaAnswer.DONE;
        });
    }

    private String json(Loaded saga, String step, Object state) {
        if (Ways.back(saga)) {
            throw new InvalidUseException(
                    "A compensation changes no state: resolve it with null instead of a state (saga="
                            + saga.saga().id() + ", step=" + step + ")");
        }
        Class<?> type = definition(saga.saga()).stateType();
        if (!type.isInstance(state)) {
            throw new InvalidUseException("The state to go on with must be a " + type.getName() + ", got a "
                    + state.getClass().getName() + " (saga=" + saga.saga().id() + ", step=" + step + ")");
        }
        return codec.write(state, "The state to go on with");
    }

    private Saga<?> definition(SagaRow saga) {
        String name = saga.origin().name();
        int version = saga.origin().version();
        return definitions
                .find(name, version)
                .orElseThrow(() -> new InvalidUseException("Saga " + name + " version " + version
                        + " is not registered in this process, which is needed to check a state; resolve it where it is (saga="
                        + saga.id() + ")"));
    }

    /** The saga goes on behind it. */
    private void pass(
            Connection connection, Loaded saga, StepRow row, StepStatus status, String words, @Nullable String state)
            throws SQLException {
        boolean back = Ways.back(saga);
        Outcome outcome = row.outcome();
        int ended = saga.saga().progress().ended() + (back ? 0 : 1);
        Integer number = back ? outcome.ended() : Integer.valueOf(ended);
        Counts counts = row.counts();
        if (back && counts.compensations() == 0) {
            counts = new Counts(counts.attempts(), 1, counts.unanswered()); // says that its way back has passed
        }
        Outcome passed = new Outcome(outcome.chosen(), state, words, number);
        sql.step(connection, saga.saga().id(), new StepRow(row.key(), status, counts, passed, null), false);
        String main = state;
        if (state != null) {
            StepRow branch =
                    Ways.branchOf(definition(saga.saga()), saga, row.key().step());
            if (branch != null) {
                sql.step(connection, saga.saga().id(), branch.result(state), false);
                main = null;
            }
        }
        Optional<StepRow> other = back
                ? Optional.empty()
                : saga.steps().stream()
                        .filter(each -> each.status() == StepStatus.FAILED
                                && !each.key().equals(row.key()))
                        .findFirst();
        if (other.isPresent()) { // it waits for a person, still
            SagaRow as = saga.saga();
            String step = other.get().key().step();
            Progress progress = new Progress(
                    step,
                    as.progress().pivoted(),
                    ended,
                    Failures.cut(step + ": " + other.get().outcome().error(), LONGEST));
            sql.saga(connection, as.id(), new Standing(SagaStatus.STUCK, main, progress, null), null);
        } else {
            goOn(connection, saga, back, ended, main);
        }
    }

    private void goOn(Connection connection, Loaded saga, boolean back, int ended, @Nullable String state)
            throws SQLException {
        SagaRow row = saga.saga();
        Progress progress = new Progress(
                row.progress().step(),
                row.progress().pivoted(),
                ended,
                back ? row.progress().reason() : null);
        restarts.restart(
                connection,
                row,
                new Standing(back ? SagaStatus.COMPENSATING : SagaStatus.RUNNING, state, progress, null));
    }

    /** The saga as it was, if it was ended: for those who are to be told. */
    @Nullable
    SagaAnswer resolveWhole(Connection connection, String id, By by, Ended ended) throws SQLException {
        return waiting(connection, id, saga -> {
            SagaRow row = saga.saga();
            String reason = Failures.cut("resolved by " + words(by), LONGEST);
            Progress progress =
                    new Progress(null, row.progress().pivoted(), row.progress().ended(), reason);
            sql.note(connection, "resolve", id, null, by);
            sql.saga(connection, id, new Standing(SagaStatus.RESOLVED, null, progress, null), null);
            Parent parent = row.origin().parent();
            if (parent != null) {
                wishes.signal(connection, SagaKeys.childSignal(parent.step()), SagaTarget.saga(parent.saga()), "true");
            }
            ended.as(row, reason);
            return SagaAnswer.DONE;
        });
    }

    /** Which saga was ended, and why. */
    @FunctionalInterface
    interface Ended {
        void as(SagaRow saga, String reason);
    }

    @Nullable
    SagaAnswer hurry(Connection connection, String id, By by) throws SQLException {
        Optional<Held> held = wishSql.lock(connection, id);
        if (held.isEmpty()) {
            return wishSql.exists(connection, id) ? null : SagaAnswer.UNKNOWN;
        }
        if (held.get().driver() == 0) {
            return held.get().status().finished() ? SagaAnswer.FINISHED : SagaAnswer.NEEDS_PERSON;
        }
        return switch (sql.hurryDriver(connection, held.get().driver())) {
            case LOCKED -> null;
            case AT_WORK -> SagaAnswer.HEALTHY;
            case YES -> sql.hurrySteps(connection, id) ? hurried(connection, id, by) : SagaAnswer.HEALTHY;
            case AFTER_FAILURE -> {
                sql.hurrySteps(connection, id);
                yield hurried(connection, id, by);
            }
        };
    }

    private SagaAnswer hurried(Connection connection, String id, By by) throws SQLException {
        sql.note(connection, "hurry", id, null, by);
        return SagaAnswer.DONE;
    }

    static List<SagaStatus> forPeople() {
        return List.of(SagaStatus.STUCK, SagaStatus.COMPENSATION_FAILED);
    }

    private static String words(By by) {
        return by.who() + ": " + by.why();
    }
}
