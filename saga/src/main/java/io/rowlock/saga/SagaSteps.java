package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The chain of a definition: its steps and what comes between them, in the order they are walked. The same chain writes
 * branches, where {@link #pivot} and {@link #build} are mistakes. For one thread.
 *
 * <p>Names are what rows store and what says where a running saga stands: 1 to 200 characters, not blank, no control
 * characters, unique in the whole saga, branches included.
 *
 * @param <S> the saga's state
 */
public sealed class SagaSteps<S> permits SagaStart, CompensationOptions {
    private final Line<S> line;

    SagaSteps(Line<S> line) {
        this.line = line;
    }

    /**
     * Adds a step. Before the pivot, and in a saga without one, it must say how it is undone: {@code compensate(...)} or
     * {@code noCompensation()}. After the pivot it must have no compensation.
     *
     * @param name the step's name
     * @return what wants the step's work
     */
    public final StepStage<S> step(String name) {
        return step(new StepDraft<>(name, false));
    }

    /**
     * Adds the step from which the saga only goes forward: from the moment it starts nothing is compensated and cancel is
     * refused; a step that has used up its attempts leaves the saga stuck, with an alert, until a person acts. At most
     * one, on the main line. Choose the step that is hardest to undo.
     *
     * @param name the step's name
     * @return what wants the step's work
     */
    public final StepStage<S> pivot(String name) {
        return step(new StepDraft<>(name, true));
    }

    /**
     * Waits for a signal, under the signal's name.
     *
     * @param signal the signal
     * @param received makes the state to record from the saga's state and what the signal carries; called in the driver:
     *     no calls to the outside
     * @param <T> the type of what it carries
     * @return what wants the limit of the wait
     */
    public final <T> AwaitStage<S> await(SagaSignal<T> signal, BiFunction<S, T, S> received) {
        return await(signal == null ? "null" : signal.name(), signal, received);
    }

    /**
     * Waits for a signal, under a name of its own: for a saga that awaits one signal several times.
     *
     * @param name the name of the wait
     * @param signal the signal
     * @param received makes the state to record from the saga's state and what the signal carries; called in the driver:
     *     no calls to the outside
     * @param <T> the type of what it carries
     * @return what wants the limit of the wait
     */
    public final <T> AwaitStage<S> await(String name, SagaSignal<T> signal, BiFunction<S, T, S> received) {
        AwaitDraft<S, T> await = new AwaitDraft<>(name, signal, received);
        line.add(await);
        return new AwaitStage<>(line, await);
    }

    /**
     * Lets time pass, by the database's clock. No worker and no connection is held meanwhile.
     *
     * @param name the name of the sleep
     * @param duration 1 ms to 100 years
     * @return the chain
     */
    public final SagaSteps<S> sleep(String name, Duration duration) {
        return sleep(name, duration != null, new SleepTime.Fixed<>(duration));
    }

    /**
     * Lets as much time pass as the state says when the sleep begins.
     *
     * @param name the name of the sleep
     * @param duration gives the length; zero or less means no sleep; null or more than 100 years fails this part for good;
     *     no calls to the outside
     * @return the chain
     */
    public final SagaSteps<S> sleep(String name, Function<S, Duration> duration) {
        return sleep(name, duration != null, new SleepTime.Computed<>(duration));
    }

    /**
     * Sleeps until an instant of the state; the database's clock says when it has come, so no node's clock counts.
     *
     * @param name the name of the sleep
     * @param instant gives the instant; one in the past means no sleep; null or one in more than 100 years fails this part
     *     for good; no calls to the outside
     * @return the chain
     */
    public final SagaSteps<S> sleepUntil(String name, Function<S, Instant> instant) {
        return sleep(name, instant != null, new SleepTime.Until<>(instant));
    }

    /**
     * Walks branches side by side. Each works on a state of its own, which begins as the saga's state now; {@code join}
     * makes one of them when all have ended. When one fails for good, the others take no further step and what was done
     * in any of them is compensated, latest first.
     *
     * @param name the name of the parallel part
     * @param branches two or more, made by {@link Branch#branch}
     * @return what wants the join
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // read at once
    public final ParallelStage<S> parallel(String name, Branch<S>... branches) {
        List<Line<S>> lines = new ArrayList<>();
        List<String> mistakes = new ArrayList<>();
        for (Branch<S> branch : branches) {
            if (branch == null) {
                mistakes.add("has null for a branch: make it with branch(...)");
            } else {
                lines.add(write(branch.name(), branch.steps(), mistakes));
            }
        }
        ParallelDraft<S> parallel = new ParallelDraft<>(name, lines);
        mistakes.forEach(parallel::mistake);
        line.add(parallel);
        return new ParallelStage<>(line, parallel);
    }

    /**
     * Walks the first branch whose condition holds. What was chosen is recorded with the state of that moment and not
     * asked again.
     *
     * @param name the name of the choice
     * @param choices made by {@link Choice#when}, one or more, and {@link Choice#otherwise}, last
     * @return the chain
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // read at once
    public final SagaSteps<S> choose(String name, Choice<S>... choices) {
        ChooseDraft<S> choose = new ChooseDraft<>(name);
        List<String> mistakes = new ArrayList<>();
        for (Choice<S> choice : choices) {
            if (choice == null) {
                mistakes.add("has null for a branch: make it with when(...) or otherwise(...)");
            } else {
                choose.add(choice.condition(), choice.isOtherwise(), write(choice.name(), choice.steps(), mistakes));
            }
        }
        mistakes.forEach(choose::mistake);
        line.add(choose);
        return new SagaSteps<>(line);
    }

    /**
     * Starts another saga, under an id made of this saga's and the name, and goes on when it has completed. If it was
     * compensated, this part has failed for good; while it waits for a person, this saga stays running and waits, too.
     * Before the pivot it must say how a completed child is undone, as a step must. A child whose business key another saga
     * holds is not started: this part has failed for good.
     *
     * @param name the name of this part
     * @param type the child's name and state; its newest registered version is started. Its definition must be registered
     *     in each process that registers this one
     * @param <C> the child's state
     * @return what wants the child's first state
     */
    public final <C> ChildStage<S, C> child(String name, SagaType<C> type) {
        ChildDraft<S, C> child = new ChildDraft<>(name, type);
        line.add(child);
        return new ChildStage<>(line, child);
    }

    /**
     * Checks the definition and finishes it. Touches no row. What is added to the chain afterwards does not change what
     * was built.
     *
     * @return the saga
     * @throws InvalidSagaException if the definition has mistakes; it names all of them
     * @throws InvalidUseException if called in a branch
     */
    public final Saga<S> build() {
        if (!line.isMain()) {
            throw new InvalidUseException("build() ends the whole saga, not branch \"" + line.name()
                    + "\": return the chain of the branch as it is");
        }
        return line.saga().build();
    }

    private StepStage<S> step(StepDraft<S> step) {
        line.add(step);
        return new StepStage<>(line, step);
    }

    private SagaSteps<S> sleep(String name, boolean complete, SleepTime<S> time) {
        line.add(new SleepDraft<>(name, complete, time));
        return new SagaSteps<>(line);
    }

    private Line<S> write(
            @Nullable String name, @Nullable Function<SagaSteps<S>, SagaSteps<S>> steps, List<String> mistakes) {
        Line<S> branch = line.branch(String.valueOf(name));
        SagaSteps<S> written = steps == null ? null : steps.apply(new SagaSteps<>(branch));
        if (written == null || written.line != branch) {
            mistakes.add("has a branch \"" + name
                    + "\" that does not return the chain it was given: end its lambda with" + " the chain");
        }
        return branch;
    }
}
