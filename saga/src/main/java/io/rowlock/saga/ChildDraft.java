package io.rowlock.saga;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A child saga while its parent is written down. For one thread. */
final class ChildDraft<S, C> extends NodeDraft<S> {
    private final @Nullable SagaType<C> type;
    private final CompensationDraft<S> compensation = new CompensationDraft<>(this);
    private boolean said;
    private @Nullable Function<S, C> start;
    private @Nullable BiFunction<S, C, S> completed;

    ChildDraft(@Nullable String name, SagaType<C> type) {
        super("child", name);
        this.type = once("its saga", null, type);
    }

    CompensationDraft<S> compensation() {
        return compensation;
    }

    void startedWith(Function<S, C> given) {
        start = once("startedWith", start, given);
    }

    void completed(BiFunction<S, C, S> given) {
        said = true;
        completed = once("completed", completed, given);
    }

    @Override
    void check(Place place, List<String> all) {
        if (!said) {
            all.add(title() + " is not finished: add startedWith(...) and completed(...)");
        }
        compensation.check(place, false, all);
    }

    @Override
    SagaNode<S> node() {
        return new SagaNode.Child<>(name(), given(type), given(start), given(completed), compensation.compensation());
    }
}
