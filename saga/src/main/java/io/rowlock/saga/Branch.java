package io.rowlock.saga;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A branch of {@link SagaSteps#parallel}, as it is written down. For one thread.
 *
 * @param <S> the saga's state
 */
public final class Branch<S> {
    private final @Nullable String name;
    private final @Nullable Function<SagaSteps<S>, SagaSteps<S>> steps;

    private Branch(@Nullable String name, @Nullable Function<SagaSteps<S>, SagaSteps<S>> steps) {
        this.name = name;
        this.steps = steps;
    }

    /**
     * Makes a branch.
     *
     * @param name the name of its result, unique among the branches beside it: 1 to 200 characters
     * @param steps writes its steps on the chain it is given, and returns that chain
     * @param <S> the saga's state
     * @return the branch
     */
    public static <S> Branch<S> branch(String name, Function<SagaSteps<S>, SagaSteps<S>> steps) {
        return new Branch<>(name, steps);
    }

    @Nullable
    String name() {
        return name;
    }

    @Nullable
    Function<SagaSteps<S>, SagaSteps<S>> steps() {
        return steps;
    }
}
