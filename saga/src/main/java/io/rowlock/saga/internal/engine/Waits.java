package io.rowlock.saga.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.job.By;
import io.rowlock.saga.BranchResults;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Await;
import io.rowlock.saga.SagaNode.Child;
import io.rowlock.saga.SagaNode.Choose;
import io.rowlock.saga.SagaNode.Parallel;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.SagaNode.Sleep;
import io.rowlock.saga.SleepTime;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.engine.Drive.Next;
import io.rowlock.saga.internal.engine.Relations.ChildState;
import io.rowlock.saga.internal.engine.Relations.Overlooked;
import io.rowlock.saga.internal.sql.SignalRow;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Begins and ends what calls nobody: waits for signals, time and children, choices, parallel parts and their joins. Changes
 * the instance only; what throws here is a mistake in the definition, and fails for good.
 */
final class Waits<S> {
    private static final Duration LOOK_AGAIN = Duration.ofDays(1);
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Parts parts;
    private final Instance<S> saga;
    private final Recording<S> recording;
    private final Verdict<S> verdict;
    private boolean awaits;

    Waits(Parts parts, Instance<S> saga, Recording<S> recording, Verdict<S> verdict) {
        this.parts = parts;
        this.saga = saga;
        this.recording = recording;
        this.verdict = verdict;
    }

    /** Whether a wait for a signal has begun: one that was sent before may not have been brought yet. */
    boolean hasBegunToAwait() {
        return awaits;
    }

    Next move(SagaNode<S> node, Scope scope) throws SQLException {
        StepRow row = saga.step(node.name());
        if (row != null && node instanceof Child<S, ?> child) {
            goOn(child, scope, row);
            return Next.ON;
        } else if (row != null
                && node instanceof Await<S, ?> await
                && saga.signal(await.signal().name()) == null) {
            Overlooked overlooked =
                    parts.relations().overlooked(saga, await.signal().name());
            if (overlooked == Overlooked.RECORDED) {
                return parts.relations().hear(saga) ? Next.ON : Next.READ_AGAIN;
            } else if (overlooked == Overlooked.UNDER_WAY) {
                saga.put(row.become(StepStatus.WAITING, saga.in(SOON)));
                return Next.ON;
            }
        }
        try {
            if (row == null) {
                begin(node, scope);
            } else {
                goOn(node, scope, row);
            }
        } catch (Throwable e) {
            StepRow begun = row == null ? StepRow.begun(StepKey.of(node.name()), StepStatus.WAITING) : row;
            verdict.failedForGood(node, begun, Verdict.words(e));
        }
        return Next.ON;
    }

    private void begin(SagaNode<S> node, Scope scope) throws Exception {
        StepRow row = StepRow.begun(StepKey.of(node.name()), StepStatus.WAITING);
        if (node instanceof Await<S, ?> await) {
            saga.put(row.become(StepStatus.WAITING, saga.in(await.within())));
            awaits = true;
        } else if (node instanceof Sleep<S> sleep) {
            saga.put(row.become(StepStatus.WAITING, end(sleep.time(), scope)));
        } else if (node instanceof Choose<S> choose) {
            saga.end(row.choose(Choices.choose(choose, saga.state(scope))), StepStatus.COMPLETED);
        } else if (node instanceof Parallel<S> parallel) {
            String state = saga.json(scope);
            for (Path<S> branch : parallel.branches()) {
                saga.put(StepRow.begun(new StepKey(parallel.name(), branch.name()), StepStatus.WAITING)
                        .result(state));
            }
            saga.put(row);
        } else {
            beginChild((Child<S, ?>) node, row, scope);
        }
    }

    private Instant end(SleepTime<S> time, Scope scope) throws Exception {
        if (time instanceof SleepTime.Fixed<S> fixed) {
            return saga.in(fixed.duration());
        } else if (time instanceof SleepTime.Computed<S> computed) {
            return Sleeps.end(saga.now(), computed.duration().apply(saga.state(scope)));
        }
        return Sleeps.end(saga.now(), ((SleepTime.Until<S>) time).instant().apply(saga.state(scope)));
    }

    private <C> void beginChild(Child<S, C> child, StepRow row, Scope scope) throws Exception {
        C state = Objects.requireNonNull(child.start().apply(saga.state(scope)), "no state for the child");
        recording.beside(parts.relations().startChild(saga, child, state));
        saga.put(row.become(StepStatus.WAITING, saga.in(LOOK_AGAIN)));
    }

    private void goOn(SagaNode<S> node, Scope scope, StepRow row) throws Exception {
        if (node instanceof Await<S, ?> await) {
            goOn(await, scope, row);
        } else if (node instanceof Parallel<S> parallel) {
            Map<String, S> results = new LinkedHashMap<>();
            for (Path<S> branch : parallel.branches()) {
                results.put(branch.name(), saga.state(new Scope(new StepKey(parallel.name(), branch.name()))));
            }
            complete(row, scope, parallel.join().join(saga.state(scope), new BranchResults<>(results)));
        } else {
            saga.end(row, StepStatus.COMPLETED); // a sleep is over
        }
    }

    private <T> void goOn(Await<S, T> await, Scope scope, StepRow row) throws Exception {
        SignalRow signal = saga.signal(await.signal().name());
        if (signal != null) {
            T payload = readable(await, row, signal);
            if (payload != null) {
                complete(row, scope, await.received().apply(saga.state(scope), payload));
                saga.consume(signal, await.name()); // only then: what cannot be recorded has not used it up
            }
        } else if (await.otherwise() instanceof Escalation.ContinueWith<S> goesOn) {
            complete(row, scope, goesOn.state().apply(saga.state(scope)));
        } else if (await.otherwise() instanceof Escalation.Fail<S>) {
            verdict.failedForGood(await, row, "no signal " + await.signal().name() + " within " + await.within());
        } else {
            String late = "waits for signal " + await.signal().name() + " for longer than " + await.within();
            recording.beside(parts.relations().alert(AlertCause.SAGA_WAITS_TOO_LONG, saga, await.name() + ": " + late));
            saga.put(row.error(late).become(StepStatus.WAITING, null));
        }
    }

    /** Null if it cannot be read: then it is consumed, people are told, and the wait goes on. */
    private <T> @Nullable T readable(Await<S, T> await, StepRow row, SignalRow signal) {
        try {
            return parts.codec().read(signal.payload(), await.signal().payloadType());
        } catch (Exception e) {
            String why = "signal " + signal.id() + " cannot be read: " + Verdict.words(e);
            recording.beside(
                    parts.relations().alert(AlertCause.SAGA_SIGNAL_UNREADABLE, saga, await.name() + ": " + why));
            saga.consume(signal, await.name());
            saga.put(row.error(why));
            return null;
        }
    }

    /** What its own lambda throws leaves a child that is done: it is undone like a step whose answer was lost. */
    private <C> void goOn(Child<S, C> child, Scope scope, StepRow row) throws SQLException {
        SignalRow signal = saga.signal(SagaKeys.childSignal(child.name()));
        Optional<ChildState> found = childOf(child);
        boolean finished = found.isPresent() && found.get().status().finished();
        if (signal != null && !signal.payload().equals(Relations.ENDED)) {
            verdict.failedForGood(child, row, "the child cannot be started: " + words(signal));
        } else if (!finished) {
            saga.put(row.become(StepStatus.WAITING, saga.in(LOOK_AGAIN)));
        } else if (found.get().undone()) {
            verdict.failedForGood(
                    child, row, "the child was undone: " + found.orElseThrow().reason());
        } else {
            try {
                complete(row, scope, completed(child, scope, found.get()));
            } catch (Throwable e) {
                verdict.failedForGood(child, row.withoutAnswer(), Verdict.words(e));
            }
        }
    }

    private String words(SignalRow signal) {
        try {
            return parts.codec().read(signal.payload(), String.class);
        } catch (Exception e) {
            return signal.payload();
        }
    }

    private Optional<ChildState> childOf(Child<S, ?> child) throws SQLException {
        SignalRow signal = saga.signal(SagaKeys.childSignal(child.name()));
        if (signal != null) {
            saga.consume(signal, child.name());
        }
        return parts.relations().child(saga.id(), child);
    }

    /**
     * On the way back: a child that still runs is cancelled, and waited for. One that could only go forward is completed
     * then, and undone like a step; what its compensation needs to know of it, its lambda puts into the state first.
     *
     * @return false if the node is none
     */
    boolean endsChild(SagaNode<S> node, Scope scope, StepRow row) throws SQLException {
        if (!(node instanceof Child<S, ?> child) || row.status() != StepStatus.WAITING) {
            return false;
        }
        Optional<ChildState> found = childOf(child);
        if (found.isEmpty() || found.get().undone()) {
            saga.put(row.become(StepStatus.COMPENSATED, null));
        } else if (found.get().status().finished()) {
            endDone(child, scope, row, found.get());
        } else {
            if (row.outcome().error() == null) {
                recording.beside(parts.relations()
                        .cancel(SagaKeys.child(saga.id(), child.name()), new By("saga", "its parent is undone")));
            }
            saga.put(row.error("cancelled, as its parent is undone").become(StepStatus.WAITING, saga.in(LOOK_AGAIN)));
        }
        return true;
    }

    private <C> void endDone(Child<S, C> child, Scope scope, StepRow row, ChildState done) {
        try {
            complete(row, scope, completed(child, scope, done));
        } catch (Throwable e) {
            saga.end(row.error(Verdict.words(e)), StepStatus.COMPLETED);
        }
    }

    private <C> S completed(Child<S, C> child, Scope scope, ChildState done) throws Exception {
        C state = parts.codec().read(done.state(), child.type().stateType());
        return child.completed().apply(saga.state(scope), state);
    }

    private void complete(StepRow row, Scope scope, @Nullable S next) {
        String json = parts.codec()
                .write(
                        Objects.requireNonNull(next, "no state was returned"),
                        "The state after " + row.key().step());
        saga.state(scope, json);
        saga.end(row.result(json), StepStatus.COMPLETED);
    }
}
