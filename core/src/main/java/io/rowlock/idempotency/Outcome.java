package io.rowlock.idempotency;

import io.rowlock.error.InvalidUseException;

/**
 * How the work of a request ended: with an answer that lasts, and is stored together with what the work wrote; or with one that does
 * not, so that all it wrote is undone, and a repetition does it again. Nothing is in between: what was done has its answer, what has
 * no answer was not done.
 *
 * <p>An answer lasts if it would be the same a moment later: success, and refusals such as "no such article" (most 4xx). One that
 * speaks of the moment does not: out of service, too many requests, not logged in (5xx, 408, 425, 429, 401). Immutable.
 *
 * @param answer what the client is told
 * @param stored whether it is stored
 * @param <T> what it is
 */
public record Outcome<T>(T answer, boolean stored) {
    /**
     * Checks the answer.
     *
     * @throws InvalidUseException if it is null
     */
    public Outcome {
        if (answer == null) {
            throw new InvalidUseException(
                    "The answer of a request must not be null; where there is none, make a record of that");
        }
    }

    /**
     * An answer that lasts.
     *
     * @param answer what the client and all its repetitions are told
     * @param <T> what it is
     * @return the outcome
     * @throws InvalidUseException if it is null
     */
    public static <T> Outcome<T> stored(T answer) {
        return new Outcome<>(answer, true);
    }

    /**
     * An answer that does not last. What the work has written is undone, whether the caller commits or not.
     *
     * @param answer what the client is told this time
     * @param <T> what it is
     * @return the outcome
     * @throws InvalidUseException if it is null
     */
    public static <T> Outcome<T> undone(T answer) {
        return new Outcome<>(answer, false);
    }
}
