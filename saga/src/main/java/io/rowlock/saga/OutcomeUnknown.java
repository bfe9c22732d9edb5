package io.rowlock.saga;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a step that cannot tell whether it took effect: the request was sent, and no answer came. It is tried again
 * like any failure; if it fails for good, its own compensation runs too. Without it the engine takes an attempt for
 * unanswered if it timed out, if its worker was lost, or if it threw an {@link java.io.IOException} other than {@link
 * java.net.ConnectException}, a {@link java.util.concurrent.TimeoutException} or an {@link InterruptedException}, in
 * whatever it was wrapped. Of a transactional step nothing but this class counts: it is rolled back when it fails.
 */
public final class OutcomeUnknown extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the answer.
     *
     * @param reason what is not known, and why; stored with the step
     * @param cause what was thrown below, or null
     */
    public OutcomeUnknown(String reason, @Nullable Throwable cause) {
        super(reason, cause);
    }
}
