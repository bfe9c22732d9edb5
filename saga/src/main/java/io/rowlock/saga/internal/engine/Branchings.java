package io.rowlock.saga.internal.engine;

import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaFork.Outcome;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Choose;
import io.rowlock.saga.SagaNode.Parallel;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.SagaNode.Step;
import io.rowlock.saga.StateUpcast;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.engine.Forks.RefusedException;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Works out what a fork takes over from its saga: the rows of the main line before a step, and the state there. */
final class Branchings<S> {
    private final Saga<S> newest;
    private final Loaded old;
    private final StateCodec codec;
    private final @Nullable String first;
    private final List<CopiedStep> steps = new ArrayList<>();
    private @Nullable StepRow recorded;
    private int ended;
    private boolean pivoted;
    private @Nullable String last;

    /** @param first the state it began with, if a step has recorded another one since */
    Branchings(Saga<S> newest, Loaded old, StateCodec codec, @Nullable String first) {
        this.newest = newest;
        this.old = old;
        this.codec = codec;
        this.first = first;
    }

    /** A row as it is copied; chosen says of a choice its option, of other parts which saga did it. */
    record CopiedStep(
            StepKey key, @Nullable String chosen, @Nullable String result) {}

    /** What is taken over. */
    record Copied(
            List<CopiedStep> steps,
            String state,
            @Nullable String businessKey,
            @Nullable String last,
            int ended,
            boolean pivoted) {}

    Copied before(String fromStep) throws RefusedException {
        int at = place(fromStep);
        for (SagaNode<S> node : newest.nodes().subList(0, at)) {
            take(node, true);
        }
        String state = upcast(stateThere(fromStep));
        S value = read(state);
        String key = newest.businessKey().map(of -> of.apply(value)).orElse(null);
        return new Copied(steps, state, key, last, ended, pivoted);
    }

    private String stateThere(String fromStep) throws RefusedException {
        if (recorded != null) {
            return String.valueOf(recorded.outcome().result());
        } else if (first != null) {
            return first;
        }
        boolean changed = old.steps().stream()
                .anyMatch(row ->
                        row.outcome().result() != null && row.key().branch().isEmpty());
        if (changed) {
            throw new RefusedException(
                    Outcome.NO_STATE,
                    "the state before " + fromStep + " is not there, as saga "
                            + old.saga().id() + " began before sagas kept it: start a new one");
        }
        return old.saga().state();
    }

    private int place(String fromStep) throws RefusedException {
        for (int i = 0; i < newest.nodes().size(); i++) {
            if (newest.nodes().get(i).name().equals(fromStep)) {
                return i;
            }
        }
        throw new RefusedException(
                Outcome.WRONG_STEP,
                newest.node(fromStep).isPresent()
                        ? fromStep + " stands in a branch of " + newest + ": fork from the main line"
                        : newest + " has no step " + fromStep);
    }

    private void take(SagaNode<S> node, boolean required) throws RefusedException {
        StepRow row = row(StepKey.of(node.name()));
        if (row == null) {
            if (required) {
                throw new RefusedException(
                        Outcome.NOT_REACHED,
                        node.name() + " stands before it in " + newest + " and is not done in saga "
                                + old.saga().id());
            }
            return;
        }
        if (!row.status().passed() || row.counts().compensations() > 0) {
            throw new RefusedException(
                    Outcome.NOT_REACHED,
                    node.name() + " stands before it and is " + row.status() + " in saga "
                            + old.saga().id() + (row.counts().compensations() > 0 ? ", its compensation has run" : ""));
        }
        copy(node, row);
        for (Path<S> path : node.paths()) {
            inside(node, path, row);
        }
    }

    /** What ran inside: all of a parallel part, of a choice what was chosen; nothing of what was skipped. */
    private void inside(SagaNode<S> node, Path<S> path, StepRow around) throws RefusedException {
        StepRow branch = row(new StepKey(node.name(), path.name()));
        if (branch != null) {
            steps.add(new CopiedStep(branch.key(), null, upcastResult(branch)));
        }
        boolean chosen =
                node instanceof Choose<S> && path.name().equals(around.outcome().chosen());
        boolean walked = around.status() == StepStatus.COMPLETED && (chosen || node instanceof Parallel<S>);
        StepRow before = recorded;
        for (SagaNode<S> inner : path.nodes()) {
            take(inner, walked);
        }
        if (node instanceof Parallel<S>) {
            recorded = before; // branches have states of their own; the join's is that of the part itself
        }
    }

    private void copy(SagaNode<S> node, StepRow row) throws RefusedException {
        String doneBy =
                row.outcome().chosen() == null ? old.saga().id() : row.outcome().chosen();
        steps.add(new CopiedStep(
                row.key(), node instanceof Choose<S> ? row.outcome().chosen() : doneBy, upcastResult(row)));
        Integer number = row.outcome().ended();
        ended = Math.max(ended, number == null ? 0 : number);
        pivoted |= node instanceof Step<S> step && step.pivot();
        last = node.name();
        if (row.outcome().result() != null) {
            recorded = row;
        }
    }

    private @Nullable StepRow row(StepKey key) {
        return old.steps().stream()
                .filter(row -> row.key().equals(key))
                .findFirst()
                .orElse(null);
    }

    private @Nullable String upcastResult(StepRow row) throws RefusedException {
        String result = row.outcome().result();
        return result == null ? null : upcast(result);
    }

    /** A state as the newest version writes it. */
    private String upcast(String json) throws RefusedException {
        int version = old.saga().origin().version();
        if (version == newest.version()) {
            return json;
        }
        for (StateUpcast<?, S> each : newest.upcasts()) {
            if (each.fromVersion() == version) {
                return upcast(each, json);
            }
        }
        throw new RefusedException(
                Outcome.NO_STATE,
                newest + " has no upcast of states of version " + version + ": give it one (upcast(" + version
                        + ", ...))");
    }

    private <O> String upcast(StateUpcast<O, S> upcast, String json) throws RefusedException {
        try {
            S state = upcast.state().apply(codec.read(json, upcast.stateType()));
            return codec.write(state, "The state of the fork");
        } catch (Exception e) {
            throw new RefusedException(
                    Outcome.NO_STATE, "the upcast of version " + upcast.fromVersion() + " failed: " + Verdict.words(e));
        }
    }

    private S read(String json) throws RefusedException {
        try {
            return codec.read(json, newest.stateType());
        } catch (Exception e) {
            throw new RefusedException(Outcome.NO_STATE, newest + " cannot read the state: " + Verdict.words(e));
        }
    }
}
