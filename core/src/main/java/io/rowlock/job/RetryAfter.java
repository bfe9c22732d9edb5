package io.rowlock.job;

import java.time.Duration;

/**
 * Thrown by a handler that was told when to come back, as by HTTP 429 or 503 with {@code Retry-After}. The attempt
 * counts; the next one starts after this delay instead of the policy's.
 */
public final class RetryAfter extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Duration delay;

    /**
     * Makes the answer.
     *
     * @param delay zero to 100 years
     * @param reason who asked to wait, and why; stored with the job
     * @throws io.rowlock.error.InvalidUseException if the delay is null, negative or too long
     */
    public RetryAfter(Duration delay, String reason) {
        super(reason);
        this.delay = Delays.checked("RetryAfter delay", delay);
    }

    /**
     * How long to wait.
     *
     * @return the delay
     */
    public Duration delay() {
        return delay;
    }
}
