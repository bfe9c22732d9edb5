package io.rowlock.worker;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.RowlockException;

/**
 * A worker without threads: claims, runs and records on the calling thread, one job at a time, through the same
 * statements as any other worker. For tests, and for programs that empty a queue and end. Not safe for use by several
 * threads; leases are not kept up, so a handler must end within the lease.
 */
public interface HandCrankedWorker extends AutoCloseable {
    /**
     * Runs the next due job to its end, records what became of it and, if it was its last attempt, raises the alert.
     * What a handler throws is recorded, not thrown.
     *
     * @return false if no job of its queues and kinds is due
     * @throws DatabaseException if the server refused a statement
     * @throws RowlockException if the thread is interrupted; it stays so
     */
    boolean runNext();

    /**
     * Runs due jobs until none is left, those that handlers write meanwhile included. An interrupt ends it after the
     * attempt that runs.
     *
     * @return how many attempts were run
     * @throws DatabaseException if the server refused a statement
     * @throws RowlockException if the thread is interrupted, which it stays; or after 10,000 attempts: a job seems to
     *     write itself again for ever
     */
    int drain();

    /**
     * Makes waiting jobs of its queues and kinds due now, such as those that wait for a retry: at most 10,000.
     *
     * @return how many were brought forward
     * @throws DatabaseException if the server refused the statement
     */
    int bringForward();

    /** Gives its connections back. */
    @Override
    void close();
}
