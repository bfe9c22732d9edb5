package io.rowlock.job;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What holds for a queue in all workers: whether it is paused, how many of its jobs may run, what a dead head does. Rows,
 * not configuration: a change holds for every worker, and outlives them. Each change is a transaction of its own that keeps a row
 * which says who did what, and why; it waits, for at most 5 s, for others only that change the same queue. The
 * {@link AccessRefusedException access policy} of the application, if it has one, is asked before each change, and before any
 * statement of it. Safe for use by many threads.
 */
public interface Queues {
    /**
     * Pauses a queue: from now on no worker claims its jobs. What runs, runs on. Enqueues go on as before.
     *
     * @param queue the queue, whether anybody serves it or not
     * @param by who pauses it, and why
     * @return false if it was paused already; then nothing is changed
     * @throws InvalidUseException if the name is not allowed
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    boolean pause(String queue, By by);

    /**
     * Ends a pause. This JVM's workers claim at once, others at their next poll.
     *
     * @param queue the queue
     * @param by who ends it, and why
     * @return false if it was not paused
     * @throws InvalidUseException if the name is not allowed
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    boolean resume(String queue, By by);

    /**
     * Since when, and by whom, a queue is paused.
     *
     * @param queue the queue
     * @return empty if it is not paused
     * @throws InvalidUseException if the name is not allowed
     * @throws DatabaseException if the server refused it
     */
    Optional<Pause> pauseOf(String queue);

    /**
     * Sets what a dead job does to those behind it with its ordering key, from the next death on.
     *
     * @param queue the queue
     * @param policy the policy; {@link DeadHead#BLOCK} where never set
     * @param by who sets it, and why
     * @throws InvalidUseException if the name is not allowed, or something is null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    void deadHead(String queue, DeadHead policy, By by);

    /**
     * Sets the limits that hold for a queue over all workers, all of them anew. Workers of this JVM keep to them from
     * their next claim on, others within five seconds, or their poll interval where that is longer. What runs beyond a smaller limit runs to its end.
     *
     * @param queue the queue, whether anybody serves it or not
     * @param limits the limits; {@link QueueLimits#none()} where never set
     * @param by who sets them, and why
     * @throws InvalidUseException if the name is not allowed, or something is null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    void limit(String queue, QueueLimits limits, By by);

    /**
     * The limits of a queue.
     *
     * @param queue the queue
     * @return those set last, or none
     * @throws InvalidUseException if the name is not allowed
     * @throws DatabaseException if the server refused it
     */
    QueueLimits limitsOf(String queue);

    /**
     * The queues for which something was set, and those in which ready jobs wait. Goes over the indexes of ready jobs from one
     * queue and kind to the next.
     *
     * @return at most 1,000 of the former and those of at most 500 queues and kinds of the latter, in the order of their names
     * @throws DatabaseException if the server refused it
     */
    List<QueueView> all();

    /**
     * A page of the ordering keys whose jobs wait behind a dead one, in the order of queues and keys. Reads an index of those keys
     * alone, and up to 1,000 of the waiting jobs of each.
     *
     * @param queue only in this queue; null: in all
     * @param after the last of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return at most so many; fewer: there are no more
     * @throws InvalidUseException if the name or {@code most} is not allowed
     * @throws DatabaseException if the server refused it
     */
    List<BlockedKey> blocked(@Nullable String queue, @Nullable BlockedKey after, int most);

    /**
     * A pause.
     *
     * @param since since when, by the database's clock
     * @param who who paused the queue
     */
    record Pause(Instant since, String who) {}
}
