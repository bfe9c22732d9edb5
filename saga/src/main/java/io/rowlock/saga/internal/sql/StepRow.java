package io.rowlock.saga.internal.sql;

import io.rowlock.saga.StepStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A step as its row says, and how it changes.
 *
 * @param key which one
 * @param status how it stands
 * @param counts its attempts
 * @param outcome what came of it
 * @param dueAt when it goes on; null: at once, or with a signal
 * @param freeAt until when the thread of an attempt that took too long may still run; null: none does
 */
public record StepRow(
        StepKey key,
        StepStatus status,
        Counts counts,
        Outcome outcome,
        @Nullable Instant dueAt,
        @Nullable Instant freeAt) {

    /** One of which no thread may still run. */
    public StepRow(StepKey key, StepStatus status, Counts counts, Outcome outcome, @Nullable Instant dueAt) {
        this(key, status, counts, outcome, dueAt, null);
    }

    /**
     * Which step of its saga.
     *
     * @param branch the branch's name in the row of a branch of a parallel part, else empty
     */
    public record StepKey(String step, String branch) {
        public static StepKey of(String step) {
            return new StepKey(step, "");
        }
    }

    /**
     * How often it was tried.
     *
     * @param unanswered whether an attempt ended without an answer
     */
    public record Counts(int attempts, int compensations, boolean unanswered) {}

    /**
     * What came of it.
     *
     * @param chosen of a choice, the option
     * @param result the state that it recorded
     * @param error why the last attempt failed
     * @param ended its number among those that ended
     */
    public record Outcome(
            @Nullable String chosen,
            @Nullable String result,
            @Nullable String error,
            @Nullable Integer ended) {}

    /** One that begins. */
    public static StepRow begun(StepKey key, StepStatus status) {
        return new StepRow(key, status, new Counts(0, 0, false), new Outcome(null, null, null, null), null);
    }

    /** One whose next attempt starts; after a hand-back it is the same one again. */
    public StepRow attempt(boolean again) {
        Counts next = new Counts(counts.attempts + (again ? 0 : 1), counts.compensations, counts.unanswered || again);
        return new StepRow(key, StepStatus.STARTED, next, outcome, null);
    }

    /** One whose compensation's next attempt starts; after a hand-back it is the same one again. */
    public StepRow compensation(boolean again) {
        Counts next = new Counts(counts.attempts, counts.compensations + (again ? 0 : 1), counts.unanswered);
        return new StepRow(key, StepStatus.COMPENSATING, next, outcome, null);
    }

    /** One of which an attempt ended without an answer. */
    public StepRow withoutAnswer() {
        return new StepRow(
                key, status, new Counts(counts.attempts, counts.compensations, true), outcome, dueAt, freeAt);
    }

    /** One that did not use the attempt. */
    public StepRow unused() {
        boolean undoing = status == StepStatus.COMPENSATING;
        return new StepRow(
                key,
                status,
                new Counts(
                        counts.attempts - (undoing ? 0 : 1),
                        counts.compensations - (undoing ? 1 : 0),
                        counts.unanswered),
                outcome,
                dueAt,
                freeAt);
    }

    /** One that stands so now. */
    public StepRow become(StepStatus next, @Nullable Instant due) {
        return new StepRow(key, next, counts, outcome, due, freeAt);
    }

    /** One that failed with these words. */
    public StepRow error(String error) {
        return new StepRow(
                key, status, counts, new Outcome(outcome.chosen, outcome.result, error, outcome.ended), dueAt, freeAt);
    }

    /** One that recorded a state. */
    public StepRow result(String state) {
        return new StepRow(
                key, status, counts, new Outcome(outcome.chosen, state, outcome.error, outcome.ended), dueAt, freeAt);
    }

    /** One that chose. */
    public StepRow choose(String option) {
        return new StepRow(
                key, status, counts, new Outcome(option, outcome.result, outcome.error, outcome.ended), dueAt, freeAt);
    }

    /** One that ended as the so-manieth. */
    public StepRow end(StepStatus as, int number) {
        return new StepRow(
                key, as, counts, new Outcome(outcome.chosen, outcome.result, outcome.error, number), null, freeAt);
    }

    /** One of which a thread may still run until then. */
    public StepRow free(@Nullable Instant at) {
        return new StepRow(key, status, counts, outcome, dueAt, at);
    }
}
