package io.rowlock.saga;

import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A child saga that wants its first state. For one thread.
 *
 * @param <S> the parent's state
 * @param <C> the child's state
 */
public final class ChildStage<S, C> {
    private final Line<S> line;
    private final ChildDraft<S, C> child;

    ChildStage(Line<S> line, ChildDraft<S, C> child) {
        this.line = line;
        this.child = child;
    }

    /**
     * Says with which state the child begins.
     *
     * @param start makes the child's first state of the parent's; no calls to the outside
     * @return what wants to know how its end is recorded
     */
    public Started<S, C> startedWith(Function<S, C> start) {
        child.startedWith(start);
        return new Started<>(line, child);
    }

    /**
     * A child saga that wants to know how its end is recorded. For one thread.
     *
     * @param <S> the parent's state
     * @param <C> the child's state
     */
    public static final class Started<S, C> {
        private final Line<S> line;
        private final ChildDraft<S, C> child;

        private Started(Line<S> line, ChildDraft<S, C> child) {
            this.line = line;
            this.child = child;
        }

        /**
         * Says what the parent records when the child has completed.
         *
         * @param completed makes the state to record from the parent's state and the child's last; no calls to the
         *     outside
         * @return the options of the child, and the chain
         */
        public ChildOptions<S> completed(BiFunction<S, C, S> completed) {
            child.completed(completed);
            return new ChildOptions<>(line, child.compensation());
        }
    }
}
