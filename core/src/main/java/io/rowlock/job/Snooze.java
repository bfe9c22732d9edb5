package io.rowlock.job;

import java.time.Duration;

/** Thrown by a handler that cannot do its job yet: the job comes back after the delay, and no attempt is used. */
public final class Snooze extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Duration delay;

    /**
     * Makes the answer.
     *
     * @param delay zero to 100 years
     * @throws io.rowlock.error.InvalidUseException if the delay is null, negative or too long
     */
    public Snooze(Duration delay) {
        super("snoozed for " + delay, null, false, false);
        this.delay = Delays.checked("Snooze delay", delay);
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
