package io.rowlock.testkit.saga;

import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaTimeline.Step;
import io.rowlock.saga.StepStatus;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** Assertions on what happened to one saga. Every message shows the whole timeline. */
public final class SagaTimelineAssert extends AbstractAssert<SagaTimelineAssert, SagaTimeline> {
    SagaTimelineAssert(SagaTimeline actual) {
        super(actual, SagaTimelineAssert.class);
    }

    /**
     * All steps are done.
     *
     * @return this
     */
    public SagaTimelineAssert isCompleted() {
        return hasStatus(SagaStatus.COMPLETED);
    }

    /**
     * All that was done is undone.
     *
     * @return this
     */
    public SagaTimelineAssert isCompensated() {
        return hasStatus(SagaStatus.COMPENSATED);
    }

    /**
     * It goes forward, and has not ended.
     *
     * @return this
     */
    public SagaTimelineAssert isRunning() {
        return hasStatus(SagaStatus.RUNNING);
    }

    /**
     * It can go neither forward nor back, and waits for a person.
     *
     * @return this
     */
    public SagaTimelineAssert isStuck() {
        return hasStatus(SagaStatus.STUCK);
    }

    /**
     * It stands so.
     *
     * @param status the status
     * @return this
     */
    public SagaTimelineAssert hasStatus(SagaStatus status) {
        isNotNull();
        if (actual.saga().status() != status) {
            fail("Expected a saga that is %s", word(status));
        }
        return this;
    }

    /**
     * Why it is undone, stuck or resolved says this.
     *
     * @param words part of the reason
     * @return this
     */
    public SagaTimelineAssert because(String words) {
        isNotNull();
        String reason = actual.saga().course().reason();
        if (reason == null || !reason.contains(words)) {
            fail("Expected the reason to contain <%s>, got <%s>", words, reason);
        }
        return this;
    }

    /**
     * Exactly these steps, waits included, are done (completed, skipped or resolved) and not undone, in this order.
     *
     * @param steps their names
     * @return this
     */
    public SagaTimelineAssert hasDone(String... steps) {
        return hasInOrder(
                "done", step -> step.status().passed(), step -> step.times().finished(), steps);
    }

    /**
     * Exactly these steps were undone, in this order.
     *
     * @param steps their names
     * @return this
     */
    public SagaTimelineAssert hasUndone(String... steps) {
        return hasInOrder(
                "undone",
                step -> step.status() == StepStatus.COMPENSATED,
                step -> step.times().compensated(),
                steps);
    }

    /**
     * A step has begun, and stands so.
     *
     * @param step its name
     * @param status the status
     * @return this
     */
    public SagaTimelineAssert hasStep(String step, StepStatus status) {
        StepStatus found = step(step).status();
        if (found != status) {
            fail("Expected step %s to be %s, it is %s", step, word(status), word(found));
        }
        return this;
    }

    /**
     * A step has not begun.
     *
     * @param step its name
     * @return this
     */
    public SagaTimelineAssert hasNotBegun(String step) {
        isNotNull();
        if (actual.steps().stream().anyMatch(named(step))) {
            fail("Expected that step %s has not begun", step);
        }
        return this;
    }

    /**
     * It waits at this step: for a signal, for time, for a child or branches, or for the next attempt.
     *
     * @param step its name
     * @return this
     */
    public SagaTimelineAssert waitsAt(String step) {
        StepStatus status = step(step).status();
        if (status != StepStatus.WAITING && status != StepStatus.RETRYING) {
            fail("Expected that it waits at step %s, which is %s", step, word(status));
        } else if (actual.saga().status().finished()) {
            fail(
                    "Expected that it waits at step %s, but it is %s",
                    step, word(actual.saga().status()));
        }
        return this;
    }

    /**
     * A step was tried so often.
     *
     * @param step its name
     * @param attempts how often, its compensation not counted
     * @return this
     */
    public SagaTimelineAssert hasAttempts(String step, int attempts) {
        int found = step(step).attempts();
        if (found != attempts) {
            fail("Expected %d attempts of step %s, found %d", attempts, step, found);
        }
        return this;
    }

    /**
     * The compensation of a step was tried so often.
     *
     * @param step the step's name
     * @param attempts how often
     * @return this
     */
    public SagaTimelineAssert hasCompensationAttempts(String step, int attempts) {
        int found = step(step).compensations();
        if (found != attempts) {
            fail("Expected %d attempts to undo step %s, found %d", attempts, step, found);
        }
        return this;
    }

    /**
     * What the last failed attempt of a step, or of its compensation, said contains this.
     *
     * @param step its name
     * @param words part of the message
     * @return this
     */
    public SagaTimelineAssert failedWith(String step, String words) {
        String error = step(step).error();
        if (error == null || !error.contains(words)) {
            fail("Expected that step %s failed with <%s>, found <%s>", step, words, error);
        }
        return this;
    }

    private Step step(String name) {
        isNotNull();
        return actual.steps().stream()
                .filter(named(name))
                .findFirst()
                .orElseThrow(() -> failure("Expected that step %s has begun%n%n%s", name, actual.toText()));
    }

    private static Predicate<Step> named(String name) {
        return step -> step.name().equals(name) && step.branch().isEmpty();
    }

    private SagaTimelineAssert hasInOrder(
            String what, Predicate<Step> which, Function<Step, @Nullable Instant> when, String... expected) {
        isNotNull();
        List<String> found = actual.steps().stream()
                .filter(step -> step.branch().isEmpty() && which.test(step))
                .sorted(Comparator.comparing(step -> Objects.requireNonNullElse(when.apply(step), Instant.MAX)))
                .map(Step::name)
                .toList();
        if (!found.equals(List.of(expected))) {
            fail("Expected steps that are %s: %s, found %s", what, List.of(expected), found);
        }
        return this;
    }

    private void fail(String message, @Nullable Object... parts) {
        throw failure("%s%n%n%s", String.format(Locale.ROOT, message, parts), actual.toText());
    }

    private static String word(Enum<?> status) {
        return status.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
