package io.rowlock.saga;

import io.rowlock.job.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One part of a built saga: what an engine walks and a drawing shows. Made by {@link SagaSteps#build()} alone, so that
 * its rules hold for every one; immutable and safe for use by many threads.
 *
 * @param <S> the saga's state
 */
public sealed interface SagaNode<S> {
    /**
     * The name that rows store: what says where a saga stands.
     *
     * @return 1 to 200 characters, unique in the saga
     */
    String name();

    /**
     * The lines of nodes inside this node.
     *
     * @return the branches of a {@link Parallel}, the options of a {@link Choose} with its otherwise last, else none
     */
    default List<Path<S>> paths() {
        return List.of();
    }

    /**
     * One unit of work.
     *
     * @param <S> the saga's state
     * @param name the name
     * @param work what is done
     * @param pivot whether the saga only goes forward from the moment this step starts
     * @param compensation what undoes it, or null if nothing does: as its definition says before the pivot, always from
     *     the pivot on
     * @param retry when and how often a failed attempt is tried again
     * @param timeout how long an attempt of the step or of its compensation may take, or null for no limit
     */
    record Step<S>(
            String name,
            StepWork<S> work,
            boolean pivot,
            @Nullable Compensation<S> compensation,
            RetryPolicy retry,
            @Nullable Duration timeout)
            implements SagaNode<S> {}

    /**
     * Waits for a signal.
     *
     * @param <S> the saga's state
     * @param <T> the type of what the signal carries
     * @param name the name
     * @param signal the signal
     * @param received makes the state to record from the saga's state and what the signal carries
     * @param within how long the saga waits
     * @param otherwise what becomes of it then
     */
    record Await<S, T>(
            String name, SagaSignal<T> signal, BiFunction<S, T, S> received, Duration within, Escalation<S> otherwise)
            implements SagaNode<S> {}

    /**
     * Lets time pass.
     *
     * @param <S> the saga's state
     * @param name the name
     * @param time how long
     */
    record Sleep<S>(String name, SleepTime<S> time) implements SagaNode<S> {}

    /**
     * Walks branches side by side, each on a state of its own, and goes on when all have ended.
     *
     * @param <S> the saga's state
     * @param name the name
     * @param branches two or more, none of them empty
     * @param join makes one state of their results
     */
    record Parallel<S>(String name, List<Path<S>> branches, BranchJoin<S> join) implements SagaNode<S> {
        public Parallel {
            branches = List.copyOf(branches);
        }

        @Override
        public List<Path<S>> paths() {
            return branches;
        }
    }

    /**
     * Walks the path of the first option that holds, or else the last path. What was chosen is recorded and not asked
     * again.
     *
     * @param <S> the saga's state
     * @param name the name
     * @param options one or more, asked in this order
     * @param otherwise the path when none holds; empty if there is nothing to do then
     */
    record Choose<S>(String name, List<Option<S>> options, Path<S> otherwise) implements SagaNode<S> {
        public Choose {
            options = List.copyOf(options);
        }

        @Override
        public List<Path<S>> paths() {
            return Stream.concat(options.stream().map(Option::path), Stream.of(otherwise))
                    .toList();
        }
    }

    /**
     * Starts another saga and goes on when it has completed. One that was compensated is a failure for good of this
     * node.
     *
     * @param <S> the saga's state
     * @param <C> the child's state
     * @param name the name
     * @param type the child's name and state; its newest registered version is started
     * @param start makes the child's first state
     * @param completed makes the state to record from the saga's state and the child's last
     * @param compensation what undoes a completed child, or null if nothing does
     */
    record Child<S, C>(
            String name,
            SagaType<C> type,
            Function<S, C> start,
            BiFunction<S, C, S> completed,
            @Nullable Compensation<S> compensation)
            implements SagaNode<S> {}

    /**
     * A named line of nodes inside a node.
     *
     * @param <S> the saga's state
     * @param name its name, unique in its node: recorded when it is chosen, the name of its result when it is joined
     * @param nodes in the order they are walked
     */
    record Path<S>(String name, List<SagaNode<S>> nodes) {
        public Path {
            nodes = List.copyOf(nodes);
        }
    }

    /**
     * One option of a choice.
     *
     * @param <S> the saga's state
     * @param when whether it holds
     * @param path what is walked then
     */
    record Option<S>(Predicate<S> when, Path<S> path) {}
}
