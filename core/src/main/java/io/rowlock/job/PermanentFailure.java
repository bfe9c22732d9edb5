package io.rowlock.job;

import org.jspecify.annotations.Nullable;

/** Thrown by a handler when no retry can help: the job becomes a dead letter at once, with an alert. */
public final class PermanentFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the failure.
     *
     * @param reason why no retry can help; stored with the job
     */
    public PermanentFailure(String reason) {
        super(reason);
    }

    /**
     * Makes the failure with its cause.
     *
     * @param reason why no retry can help; stored with the job
     * @param cause what was thrown below, or null
     */
    public PermanentFailure(String reason, @Nullable Throwable cause) {
        super(reason, cause);
    }
}
