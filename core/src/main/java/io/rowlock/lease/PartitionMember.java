package io.rowlock.lease;

import java.time.Duration;
import java.util.Set;

/** A process that shares the parts with others. Safe for use by many threads. */
public interface PartitionMember extends AutoCloseable {
    /**
     * The parts that it works on.
     *
     * @return their numbers, those that are draining too
     */
    Set<Integer> parts();

    /**
     * The parts that are to be handed over and whose work has not ended yet.
     *
     * @return their numbers
     */
    Set<Integer> draining();

    /**
     * How many members live, as it saw last.
     *
     * @return 0 before the first look
     */
    int members();

    /**
     * Leaves: takes no more parts, tells the tasks to end, interrupts them after the grace period, and releases each part when its
     * task has ended. A task that goes on all the same keeps its part until it ends, or the drain limit has passed.
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
