package io.rowlock.lease;

import java.time.Duration;

/** A process that wants to lead, or does. Safe for use by many threads. */
public interface Candidacy extends AutoCloseable {
    /**
     * Whether its task runs under a lease that is held.
     *
     * @return true if this process leads
     */
    boolean leads();

    /**
     * Leads no more: tells the task to end, interrupts it after the grace period, waits a second more, and releases the lease when the task has ended.
     * A task that goes on all the same keeps its lease until it ends.
     *
     * @param grace 0 or more
     * @return true if no task runs any more
     * @throws io.rowlock.error.InvalidUseException if null or negative
     */
    boolean stop(Duration grace);

    /** The same as {@link #stop} with 10 s. */
    @Override
    default void close() {
        stop(Duration.ofSeconds(10));
    }
}
