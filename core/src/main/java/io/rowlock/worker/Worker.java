package io.rowlock.worker;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import java.time.Duration;

/**
 * One running engine in one process: claims jobs of its own kinds under a lease, runs their handlers, records the
 * outcomes. Any number of workers in any number of processes share the database. Started once. Safe for use by many
 * threads.
 */
public interface Worker extends AutoCloseable {
    /**
     * The incarnation: a fresh name for each start, written into the rows it claims.
     *
     * @return at most 200 characters
     */
    String id();

    /**
     * Begins to claim. Blocks until the database answers: while it is unreachable, starting or full it waits, tries
     * again and logs so once a minute, until it answers, the thread is interrupted or {@link #stop} is called. What time
     * cannot cure, such as a wrong password, a missing database or a missing right, is thrown at once.
     *
     * @throws DatabaseException if the server refuses the login, has no such database, or the role lacks a right; if the
     *     thread was interrupted or the worker stopped while it waited
     * @throws SchemaException if Rowlock's tables are missing, older than this version or differ
     * @throws InvalidUseException if it was started before
     */
    void start();

    /**
     * Claims no more, lets running handlers end within the grace period while their leases are kept up, interrupts the
     * rest and hands their jobs back without using the attempt, writes the last outcomes, and closes. Blocks for the
     * grace period and a few seconds at most. If another thread stops it already, waits for that; does nothing if it is
     * stopped.
     *
     * @param grace how long running handlers may take, zero or more
     * @throws InvalidUseException if the grace period is null or negative
     */
    void stop(Duration grace);

    /** The same as {@link #stop} with a grace period of 30 seconds. */
    @Override
    default void close() {
        stop(Duration.ofSeconds(30));
    }

    /**
     * How the worker is, without asking the database.
     *
     * @return a snapshot
     */
    WorkerHealth health();
}
