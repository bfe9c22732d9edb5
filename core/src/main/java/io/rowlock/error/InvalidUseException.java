package io.rowlock.error;

import org.jspecify.annotations.Nullable;

/**
 * The call or the wiring is wrong: a null or oversized payload, a kind without a name, an enqueue without a
 * transaction, a value out of its range. Always thrown before any SQL was sent, so the caller's transaction is as it
 * was (promise P15).
 */
public final class InvalidUseException extends RowlockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what is wrong and how to put it right
     */
    public InvalidUseException(String message) {
        super(message);
    }

    /**
     * Makes the exception with its cause.
     *
     * @param message what is wrong and how to put it right
     * @param cause what was thrown below, or null
     */
    public InvalidUseException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
