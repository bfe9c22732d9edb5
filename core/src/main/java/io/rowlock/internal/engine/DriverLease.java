package io.rowlock.internal.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The lease under which a leased handler writes by itself, many times, and with many others in one statement: what fences its
 * writes, and how it says that one of them has ended the lease. The {@code JobContext} of each attempt is one. For jobs
 * without an ordering key, as nobody else would settle that. Valid until the handler returns; safe for use by many threads.
 */
public interface DriverLease {
    /** Whose lease it is: what stands in locked_by. */
    String owner();

    /** The job. */
    long id();

    /** The fencing number, as claimed; a write that takes nothing from the lease leaves it. */
    long token();

    /** How long the lease lasts without being renewed. */
    Duration length();

    /** Which attempt this is, as claimed; what is written to the row meanwhile does not change it. */
    int attempt();

    /** How many claims before this one ended by an expired lease, as claimed. */
    int losses();

    /** Whether the row of a completed job is deleted, or kept for its retention. */
    boolean deleteCompleted();

    /** Whether the worker is stopping: what has begun may end, within the grace period; nothing new should begin. */
    boolean stopping();

    /**
     * Whether the job was taken from this attempt: the lease is lost, the attempt timed out, or the job was handed back or
     * cancelled. Nothing may be written any more, and nothing can be, under its fence.
     */
    boolean takenAway();

    /**
     * Says that a transaction of the handler's own has completed the job, or put it back, under the fence. From then on nobody
     * takes the end of the lease for its loss, and that is the outcome, whatever the handler returns or throws, and however
     * long it goes on; where the transaction turns out not to have committed, the attempt has failed. To be called after the
     * commit, or just before it; may be called again, and the last one counts.
     *
     * @param putBackFor how long the job waits, not negative; null if it was completed
     */
    void ended(@Nullable Duration putBackFor);
}
