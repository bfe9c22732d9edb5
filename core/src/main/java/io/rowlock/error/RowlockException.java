package io.rowlock.error;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything Rowlock throws by itself. Unchecked; its message says what failed, why, what to do, then the
 * keys. Handlers' own exceptions are never wrapped in it.
 */
public class RowlockException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what failed, why, and what to do
     */
    public RowlockException(String message) {
        super(message);
    }

    /**
     * Makes the exception with its cause.
     *
     * @param message what failed, why, and what to do
     * @param cause what was thrown below, or null
     */
    public RowlockException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
