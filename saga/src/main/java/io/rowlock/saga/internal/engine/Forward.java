package io.rowlock.saga.internal.engine;

import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Await;
import io.rowlock.saga.SagaNode.Child;
import io.rowlock.saga.SagaNode.Choose;
import io.rowlock.saga.SagaNode.Parallel;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds what is next on the way forward: walks the definition beside the rows. Decides nothing, changes nothing. */
final class Forward<S> {
    private final Instance<S> saga;
    private final Set<String> busy;
    private final Set<String> signals = new HashSet<>();
    private final List<Found.Ready<S>> ready = new ArrayList<>();
    private @Nullable Instant earliest;

    private Forward(Instance<S> saga, Set<String> busy) {
        this.saga = saga;
        this.busy = busy;
    }

    /** What is ready, of each branch at most one, in the order of the definition; if nothing is, why. */
    record Result<S>(List<Found.Ready<S>> ready, Found<S> otherwise) {}

    /** @param busy steps whose attempts run */
    static <S> Result<S> find(Instance<S> saga, Set<String> busy) {
        Forward<S> walk = new Forward<>(saga, busy);
        boolean done = walk.passed(saga.definition().nodes(), Scope.MAIN);
        return new Result<>(walk.ready, done ? new Found.Done<>() : new Found.Waits<>(walk.earliest, walk.signals));
    }

    /** Whether the whole line is passed. */
    private boolean passed(List<SagaNode<S>> line, Scope scope) {
        return line.stream().allMatch(node -> passed(node, scope));
    }

    private boolean passed(SagaNode<S> node, Scope scope) {
        StepRow row = saga.step(node.name());
        if (row == null) {
            return ready(node, scope);
        }
        if (node instanceof Choose<S> choose && row.status() == StepStatus.COMPLETED) {
            return passed(Choices.chosen(choose, row).nodes(), scope);
        }
        if (row.status().passed()) {
            return true;
        }
        if (node instanceof Parallel<S> parallel && row.status() == StepStatus.WAITING) {
            return branchesPassed(parallel) && ready(node, scope);
        }
        switch (row.status()) {
            case STARTED, RETRYING, WAITING -> waits(node, row, scope);
            default -> {
                // failed: a person is needed
            }
        }
        return false;
    }

    private boolean branchesPassed(Parallel<S> parallel) {
        boolean all = true;
        for (Path<S> branch : parallel.branches()) {
            all &= passed(branch.nodes(), new Scope(new StepKey(parallel.name(), branch.name())));
        }
        return all;
    }

    private void waits(SagaNode<S> node, StepRow row, Scope scope) {
        if (row.freeAt() != null && !saga.isOver(row.freeAt())) {
            until(row.freeAt());
            return;
        }
        String signal = signal(node);
        boolean moved = signal != null && saga.signal(signal) != null;
        boolean due = row.status() == StepStatus.STARTED || (row.dueAt() != null && saga.isOver(row.dueAt()));
        if (moved || due) {
            ready(node, scope);
            return;
        }
        if (signal != null) {
            signals.add(signal);
        }
        if (row.dueAt() != null) {
            until(row.dueAt());
        }
    }

    private void until(Instant time) {
        if (earliest == null || time.isBefore(earliest)) {
            earliest = time;
        }
    }

    /** The signal that moves it, or null. */
    static @Nullable String signal(SagaNode<?> node) {
        if (node instanceof Await<?, ?> await) {
            return await.signal().name();
        }
        return node instanceof Child<?, ?> child ? SagaKeys.childSignal(child.name()) : null;
    }

    /** Always false, as it is not passed. */
    private boolean ready(SagaNode<S> node, Scope scope) {
        if (!busy.contains(node.name())) {
            ready.add(new Found.Ready<>(node, scope));
        }
        return false;
    }
}
