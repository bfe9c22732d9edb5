package io.rowlock.saga;

import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A branch of {@link SagaSteps#choose}, as it is written down. For one thread.
 *
 * @param <S> the saga's state
 */
public final class Choice<S> {
    private static final String OTHERWISE = "otherwise";

    private final @Nullable String name;
    private final @Nullable Predicate<S> condition;
    private final @Nullable Function<SagaSteps<S>, SagaSteps<S>> steps;
    private final boolean otherwise;

    private Choice(
            @Nullable String name,
            @Nullable Predicate<S> condition,
            @Nullable Function<SagaSteps<S>, SagaSteps<S>> steps,
            boolean otherwise) {
        this.name = name;
        this.condition = condition;
        this.steps = steps;
        this.otherwise = otherwise;
    }

    /**
     * A branch that is walked when its condition holds and none before it did.
     *
     * @param name the name to record when it is chosen, unique among the branches beside it: 1 to 200 characters
     * @param condition asked once, of the state as it was recorded last; no calls to the outside
     * @param steps writes its steps on the chain it is given, and returns that chain
     * @param <S> the saga's state
     * @return the branch
     */
    public static <S> Choice<S> when(String name, Predicate<S> condition, Function<SagaSteps<S>, SagaSteps<S>> steps) {
        return new Choice<>(name, condition, steps, false);
    }

    /**
     * The branch that is walked when no condition holds, recorded as {@code otherwise}.
     *
     * @param steps writes its steps on the chain it is given, and returns that chain
     * @param <S> the saga's state
     * @return the branch
     */
    public static <S> Choice<S> otherwise(Function<SagaSteps<S>, SagaSteps<S>> steps) {
        return new Choice<>(OTHERWISE, null, steps, true);
    }

    /**
     * Says that there is nothing to do when no condition holds: the saga goes on after the choice.
     *
     * @param <S> the saga's state
     * @return the empty branch
     */
    public static <S> Choice<S> otherwise() {
        return otherwise(chain -> chain);
    }

    @Nullable
    String name() {
        return name;
    }

    @Nullable
    Predicate<S> condition() {
        return condition;
    }

    @Nullable
    Function<SagaSteps<S>, SagaSteps<S>> steps() {
        return steps;
    }

    boolean isOtherwise() {
        return otherwise;
    }
}
