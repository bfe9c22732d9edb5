package io.rowlock.job;

import java.time.Duration;

/** How long to wait after a failed attempt. Called by many threads at once. */
@FunctionalInterface
public interface Backoff {
    /**
     * The delay before the next attempt.
     *
     * @param attempt the attempt that failed, 1 for the first
     * @param error what it threw
     * @return zero or more; a null, negative or endless answer counts as one hour
     */
    Duration delay(int attempt, Throwable error);
}
