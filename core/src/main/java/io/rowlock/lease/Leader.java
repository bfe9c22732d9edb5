package io.rowlock.lease;

import java.time.Duration;

/**
 * One process at a time does a task, by a lease with the task's name; its writes go through the term's fence. Safe for use by
 * many threads.
 */
public interface Leader {
    /**
     * Has this process be one of those that may lead, from now on until it is stopped. A thread of its own tries to take the lease
     * once a second, or three times in a time to live if that is shorter, and runs the task on itself when it has it. When the
     * task returns or throws, the lease is released and the next term may be anybody's; this process waits before it tries again,
     * a second after a return, up to 5 s after failures. When the lease is lost, the thread is interrupted, and tries again only
     * when the task has ended: in one process the task never runs twice at once.
     *
     * @param name 1 to 200 characters, the same in all processes
     * @param task what to do; called again for each term
     * @return to stop it
     * @throws io.rowlock.error.InvalidUseException if the name is not allowed or the task is null
     */
    Candidacy run(String name, LeaderTask task);

    /**
     * Runs the task now, on this thread, if nobody leads under this name: once in all processes only as long as they begin while it
     * runs. What must not happen twice a day needs a row that says so, written through the fence. The thread is interrupted when the
     * lease is lost.
     *
     * @param name as for {@link #run}
     * @param task what to do
     * @return false if another leads; the task was not called then
     * @throws Exception what the task threw
     * @throws io.rowlock.error.LeaseLostException if the lease was lost while the task ran, though it returned
     * @throws io.rowlock.error.DatabaseException if the lease could not be taken
     */
    boolean tryRun(String name, LeaderTask task) throws Exception;

    /**
     * For a program that is one process by its nature, and for tests: this process always leads; no lease is taken, no SQL sent.
     * The term's token is 0; its fence checks only that the connection is in a transaction.
     *
     * @return a leader without a database
     */
    static Leader alone() {
        return new LoneLeader();
    }

    /** The longest wait between two tries to take the lease. */
    Duration BETWEEN_TRIES = Duration.ofSeconds(1);
}
