package io.rowlock.saga;

/**
 * How a completed child saga is undone; any of the chain's methods goes on with the next part. For one thread.
 *
 * @param <S> the saga's state
 */
public final class ChildOptions<S> extends CompensationOptions<S, ChildOptions<S>> {
    ChildOptions(Line<S> line, CompensationDraft<S> compensation) {
        super(line, compensation);
    }

    @Override
    ChildOptions<S> self() {
        return this;
    }
}
