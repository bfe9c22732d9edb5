package io.rowlock.saga.internal.engine;

import io.rowlock.saga.Compensation;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Child;
import io.rowlock.saga.SagaNode.Parallel;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.SagaNode.Step;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.StepWork;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds what is to be undone next: first what failed or was cut off and may have taken effect unseen, and children that
 * still run; then what is done, in reverse of the order in which it ended. One at a time: what has begun to be undone is
 * undone to its end.
 */
final class Backward<S> {
    private final Instance<S> saga;
    private Found.@Nullable Ready<S> next;
    private @Nullable StepRow row;
    private long order = -1;

    private Backward(Instance<S> saga) {
        this.saga = saga;
    }

    static <S> Found<S> find(Instance<S> saga) {
        Backward<S> walk = new Backward<>(saga);
        walk.look(saga.definition().nodes(), Scope.MAIN);
        if (walk.next == null || walk.row == null) {
            return new Found.Done<>();
        }
        return walk.ready(walk.next, walk.row);
    }

    private Found<S> ready(Found.Ready<S> ready, StepRow of) {
        if (of.freeAt() != null && !saga.isOver(of.freeAt())) {
            return new Found.Waits<>(of.freeAt(), Set.of());
        }
        if (of.status() == StepStatus.WAITING) { // a child that still runs
            String signal = Forward.signal(ready.node());
            boolean untold = of.outcome().error() == null;
            return signal == null || untold || saga.signal(signal) != null || saga.isOver(of.dueAt())
                    ? ready
                    : new Found.Waits<>(of.dueAt(), Set.of(signal));
        }
        return of.status() != StepStatus.COMPENSATING || saga.isOver(of.dueAt())
                ? ready
                : new Found.Waits<>(of.dueAt(), Set.of());
    }

    private void look(List<SagaNode<S>> line, Scope scope) {
        for (SagaNode<S> node : line) {
            StepRow of = saga.step(node.name());
            if (of != null) {
                consider(node, scope, of);
            }
            for (Path<S> path : node.paths()) {
                look(path.nodes(), inside(node, path, scope, of));
            }
        }
    }

    /** A branch has a state of its own until it is joined. */
    private Scope inside(SagaNode<S> node, Path<S> path, Scope scope, @Nullable StepRow of) {
        boolean joined = of == null || of.status().passed();
        return node instanceof Parallel<S> && !joined ? new Scope(new StepKey(node.name(), path.name())) : scope;
    }

    private void consider(SagaNode<S> node, Scope scope, StepRow of) {
        long place = place(node, of);
        if (place > order) {
            order = place;
            next = new Found.Ready<>(node, scope);
            row = of;
        }
    }

    /** The greatest goes first; -1: nothing to undo. */
    private static <S> long place(SagaNode<S> node, StepRow of) {
        Integer ended = of.outcome().ended();
        long place = compensation(node) == null || ended == null ? -1 : ended;
        return switch (of.status()) {
            case COMPENSATING -> Long.MAX_VALUE;
            case RESOLVED -> of.counts().compensations() == 0 ? place : -1;
            case COMPLETED -> place;
            case WAITING -> node instanceof Child<S, ?> ? Long.MAX_VALUE - 1 : -1;
            case FAILED, STARTED, RETRYING -> mayHaveTakenEffect(node, of) ? Long.MAX_VALUE - 2 : -1;
            default -> -1;
        };
    }

    /** A transactional step that was cut off is rolled back. A child that failed with no answer is done. */
    private static <S> boolean mayHaveTakenEffect(SagaNode<S> node, StepRow of) {
        Compensation<S> compensation = compensation(node);
        boolean running = of.status() == StepStatus.STARTED
                && node instanceof Step<S> step
                && step.work() instanceof StepWork.Called<S>;
        return compensation != null
                && !compensation.onlyWhenCompleted()
                && (of.counts().unanswered() || running);
    }

    static <S> @Nullable Compensation<S> compensation(SagaNode<S> node) {
        if (node instanceof Step<S> step) {
            return step.compensation();
        }
        return node instanceof Child<S, ?> child ? child.compensation() : null;
    }
}
