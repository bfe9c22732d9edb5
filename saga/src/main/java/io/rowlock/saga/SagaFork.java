package io.rowlock.saga;

/**
 * What became of a fork.
 *
 * @param outcome what
 * @param saga the id it was asked for, or of {@link Outcome#KEY_HELD} the saga that holds the business key
 * @param words for people: what was copied, or why nothing was
 */
public record SagaFork(Outcome outcome, String saga, String words) {
    /** What can become of a fork. But for {@link #FORKED}, nothing was written. */
    public enum Outcome {
        /** The new saga runs. */
        FORKED,
        /** There is a saga of the new id already. */
        EXISTS,
        /** An unfinished saga holds the business key: resolve that one first. */
        KEY_HELD,
        /** The old saga waits for a person, and could go on beside its fork: {@code resolveWhole} it first. */
        UNFINISHED,
        /** The old saga goes on by itself: cancel it, or wait. */
        HEALTHY,
        /** The newest version has no such step on its main line. */
        WRONG_STEP,
        /** A fork of it has taken over what was done, and may undo it: fork that one, or from the first step. */
        FORKED_ALREADY,
        /** What stands before the step is not done in the old saga, or was undone. */
        NOT_REACHED,
        /** The state before the step was redacted or cannot be read, or no upcast makes one of the newest version of it. */
        NO_STATE,
        /** There is no such saga (any more). */
        UNKNOWN
    }
}
