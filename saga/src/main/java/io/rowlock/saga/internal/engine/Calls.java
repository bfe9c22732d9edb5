package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.LogContext;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Compensation;
import io.rowlock.saga.OutcomeUnknown;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Step;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.StepWork;
import io.rowlock.saga.internal.engine.Context.Running;
import io.rowlock.saga.internal.engine.Context.Surroundings;
import io.rowlock.saga.internal.engine.Drive.Next;
import io.rowlock.saga.internal.engine.Recording.Result;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes the attempts of steps and of compensations: each is recorded before it starts, so that a crash in it is known and
 * counted (promise P6), and called with no transaction open (promise P5) unless it is a transactional one.
 */
final class Calls<S> {
    private static final String WORKER_LOST = "its worker was lost in its last attempt";

    private final Parts parts;
    private final Hold hold;
    private final Instance<S> saga;
    private final Recording<S> recording;
    private final Verdict<S> verdict;
    private final TransactionalCalls<S> transactional;

    Calls(Parts parts, Hold hold, Instance<S> saga, Recording<S> recording, Verdict<S> verdict) {
        this.parts = parts;
        this.hold = hold;
        this.saga = saga;
        this.recording = recording;
        this.verdict = verdict;
        this.transactional = new TransactionalCalls<>(parts, hold, saga);
    }

    /** How an attempt ends. */
    interface Ends<S> {
        /** It returned, within its time. */
        void returned(@Nullable S state) throws Exception;

        /** It threw, or took too long. */
        void failed(Throwable thrown);
    }

    /** The row of a step's next attempt; null if it has none, and has failed for good. */
    @Nullable
    StepRow prepare(Step<S> step) {
        StepRow before = saga.step(step.name());
        if (before == null || before.status() != StepStatus.STARTED) {
            StepRow row = before == null ? StepRow.begun(StepKey.of(step.name()), StepStatus.STARTED) : before;
            return row.attempt(false);
        }
        boolean again = hold.takeHandBack(step.name()); // else its worker was lost, or its answer
        StepRow cutOff = step.work() instanceof StepWork.Called<S> ? before.withoutAnswer() : before;
        if (!again && before.counts().attempts() >= step.retry().maxAttempts()) {
            verdict.failedForGood(step, cutOff, WORKER_LOST);
            return null;
        }
        return cutOff.attempt(again);
    }

    /** The attempts that these rows were to be of do not begin. */
    void unprepare(List<StepRow> rows) {
        rows.forEach(row -> hold.returnHandBack(row.key().step()));
    }

    /** One attempt of a step. */
    Next make(Step<S> step, Scope scope, boolean gives) throws Exception {
        LogContext log = LogContext.enter(Map.of("rowlock.step", step.name()));
        try {
            return attempt(step, scope, gives);
        } finally {
            log.close();
        }
    }

    private Next attempt(Step<S> step, Scope scope, boolean gives) throws Exception {
        StepRow attempt = prepare(step);
        if (attempt == null) {
            return Next.ON;
        }
        Result started = recording.start(List.of(attempt), step.pivot(), gives);
        if (started != Result.RECORDED) {
            return Drive.after(started);
        }
        Context context = context(new Running(step.name(), attempt.counts().attempts(), false));
        Ends<S> ends = ends(step, scope, attempt);
        if (step.work() instanceof StepWork.Called<S> called) {
            return call(step.timeout(), () -> required(called.call().call(saga.state(scope), context)), ends);
        } else if (step.work() instanceof StepWork.TransactionalJdbc<S> plain) {
            return transactional.run(
                    parts.transactions(),
                    connection -> required(plain.call().call(saga.state(scope), context, connection)),
                    new TransactionalCalls.Attempt<>(
                            step.name(), step.timeout(), gives && !step.pivot(), ends, recording));
        }
        return inFramework((StepWork.Transactional<S, ?>) step.work(), step, scope, context, gives, ends);
    }

    private <R> Next inFramework(
            StepWork.Transactional<S, R> work, Step<S> step, Scope scope, Context context, boolean gives, Ends<S> ends)
            throws Exception {
        return transactional.run(
                work.runner(),
                resource -> required(work.call().call(saga.state(scope), context, resource)),
                new TransactionalCalls.Attempt<>(step.name(), step.timeout(), gives && !step.pivot(), ends, recording));
    }

    /** One attempt of a compensation. */
    Next undo(SagaNode<S> node, Scope scope) throws Exception {
        LogContext log = LogContext.enter(Map.of("rowlock.step", node.name()));
        try {
            return attemptToUndo(node, scope);
        } finally {
            log.close();
        }
    }

    private Next attemptToUndo(SagaNode<S> node, Scope scope) throws Exception {
        StepRow row = Objects.requireNonNull(saga.step(node.name()), "what is undone has begun");
        Compensation<S> compensation =
                Objects.requireNonNull(Backward.compensation(node), "what is undone has a compensation");
        boolean cutOff = row.status() == StepStatus.COMPENSATING && row.dueAt() == null;
        boolean again = cutOff && hold.takeHandBack(node.name());
        if (cutOff
                && !again
                && row.counts().compensations() >= compensation.retry().maxAttempts()) {
            verdict.compensationFailedForGood(node, row, WORKER_LOST);
            return Next.ON;
        }
        StepRow attempt = row.compensation(again);
        Result started = recording.start(List.of(attempt), false, false);
        if (started != Result.RECORDED) {
            return Drive.after(started);
        }
        Context context = context(new Running(node.name(), attempt.counts().compensations(), true));
        Ends<S> ends = endsOfUndo(node, compensation, attempt);
        Duration timeout = node instanceof Step<S> step ? step.timeout() : null;
        if (compensation.work() instanceof Compensation.Called<S> called) {
            return call(
                    timeout,
                    () -> {
                        called.call().compensate(saga.state(scope), context);
                        return null;
                    },
                    ends);
        }
        TransactionalCalls.Attempt<S> how =
                new TransactionalCalls.Attempt<>(node.name(), timeout, false, ends, recording);
        if (compensation.work() instanceof Compensation.TransactionalJdbc<S> plain) {
            return transactional.run(
                    parts.transactions(),
                    connection -> {
                        plain.call().compensate(saga.state(scope), context, connection);
                        return null;
                    },
                    how);
        }
        return undoInFramework((Compensation.Transactional<S, ?>) compensation.work(), scope, context, how);
    }

    private <R> Next undoInFramework(
            Compensation.Transactional<S, R> work, Scope scope, Context context, TransactionalCalls.Attempt<S> how)
            throws Exception {
        return transactional.run(
                work.runner(),
                resource -> {
                    work.call().compensate(saga.state(scope), context, resource);
                    return null;
                },
                how);
    }

    /** An attempt of a branch's step, to run beside others; its start is recorded. */
    Flight<S> flight(Step<S> step, StepWork.Called<S> work, Scope scope, StepRow attempt) {
        Context context = context(new Running(step.name(), attempt.counts().attempts(), false));
        return new Flight<>(
                step,
                saga,
                scope,
                state -> required(work.call().call(state, context)),
                ends(step, scope, attempt),
                hold.length());
    }

    @FunctionalInterface
    private interface Work<S> {
        @Nullable
        S call() throws Exception;
    }

    private Next call(@Nullable Duration limit, Work<S> work, Ends<S> ends) throws Exception {
        TimedCall timed = new TimedCall(parts, limit);
        S returned = null;
        Throwable thrown = null;
        try {
            returned = timed.<@Nullable S>call(work::call, () -> tooLong(limit, ends));
        } catch (Throwable e) {
            thrown = e;
        }
        hold.calm();
        if (timed.decidedByTimer() || hold.takenAway()) {
            return Next.OVER;
        }
        end(ends, returned, thrown);
        return Next.ON;
    }

    /** It ended, in time. */
    static <S> void end(Ends<S> ends, @Nullable S returned, @Nullable Throwable thrown) {
        Throwable failure = thrown == null ? unusable(ends, returned) : thrown;
        if (failure != null) {
            ends.failed(failure);
        }
    }

    /** Why what it returned cannot be recorded; null if it is. */
    private static <S> @Nullable Throwable unusable(Ends<S> ends, @Nullable S returned) {
        try {
            ends.returned(returned);
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    private void tooLong(@Nullable Duration limit, Ends<S> ends) throws SQLException {
        ends.failed(new TookTooLongException(Objects.requireNonNull(limit), hold.length()));
        endEarly(saga, recording);
    }

    /** The drive is over, as its thread may still be in the call; the next one, at once, sees what there is to wait for. */
    static <S> void endEarly(Instance<S> saga, Recording<S> recording) throws SQLException {
        if (saga.status().needsPerson()) {
            recording.end();
        } else {
            recording.putBack(null, false, Set.of());
        }
    }

    private Ends<S> ends(Step<S> step, Scope scope, StepRow attempt) {
        return new Ends<>() {
            @Override
            public void returned(@Nullable S state) {
                String json = json(step, required(state));
                saga.state(scope, json);
                saga.end(attempt.result(json), StepStatus.COMPLETED);
            }

            @Override
            public void failed(Throwable thrown) {
                verdict.failed(step, attempt, thrown);
            }
        };
    }

    private Ends<S> endsOfUndo(SagaNode<S> node, Compensation<S> compensation, StepRow attempt) {
        return new Ends<>() {
            @Override
            public void returned(@Nullable S nothing) {
                saga.put(attempt.become(StepStatus.COMPENSATED, null));
            }

            @Override
            public void failed(Throwable thrown) {
                verdict.compensationFailed(node, compensation.retry(), attempt, thrown);
            }
        };
    }

    private String json(Step<S> step, S state) {
        try {
            return parts.codec().write(state, "The state that step " + step.name() + " returned");
        } catch (RuntimeException e) {
            throw new PermanentFailure(
                    String.valueOf(e.getMessage()),
                    new OutcomeUnknown("the step was done, its answer cannot be recorded", e));
        }
    }

    private S required(@Nullable S state) {
        if (state == null) {
            throw new PermanentFailure(
                    "the step returned null instead of a state",
                    new OutcomeUnknown("the step was done, but brought no state", null));
        }
        return state;
    }

    private Context context(Running running) {
        return new Context(saga, running, new Surroundings(hold.installation(), hold.headers(), hold::takenAway));
    }
}
