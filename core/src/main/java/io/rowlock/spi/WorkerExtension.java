package io.rowlock.spi;

import io.rowlock.event.RowlockEvent;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * What a module beside core does in each worker: something before the first claim, housekeeping now and then, something at
 * the end. Given to {@code WorkerConfig.extension}; one may serve several workers, and is then called for each. Its methods
 * are called one after the other for one worker, by different threads.
 */
public interface WorkerExtension {
    /**
     * The worker starts: the tables are right, and nothing is claimed yet. Called by the thread that starts the worker or makes
     * one cranked by hand; the start waits for it. What it throws fails the start, and an SQLException is taken as one of the
     * worker's own: what time can cure has it called again when the database answers, anything else is a
     * {@link io.rowlock.error.DatabaseException}.
     *
     * @param connection a connection to Rowlock's database in autocommit; to be left so, and open
     * @throws SQLException if the database cannot be used, or refused a statement
     */
    default void starting(Connection connection) throws SQLException {}

    /**
     * Does a bounded piece of work, such as deleting a batch of old rows: first soon after the start, then 100 ms after it said
     * that there is more, else every 30 s. Never called for a worker cranked by hand. Shares a connection with the worker's
     * claims, which wait meanwhile: each statement should take milliseconds, and one that takes longer than a quarter of a
     * lease, or 5 s if that is more, loses the connection. What it throws is logged and told as a
     * {@link RowlockEvent.LoopFailed}, and goes no further (promise P10); it is called again after 30 s.
     *
     * @param connection a READ COMMITTED connection to Rowlock's database in autocommit; to be left so, and open
     * @return whether there is more to be done now
     * @throws SQLException if the database cannot be used, or refused a statement
     */
    default boolean housekeeping(Connection connection) throws SQLException {
        return false;
    }

    /**
     * Something happened to a job that this worker had, or that it took from a lost one: what listeners are told too, after it
     * is recorded. Called by engine threads; must be quick. What it throws is logged, and goes no further (promise P10).
     *
     * @param event what
     */
    default void happened(RowlockEvent event) {}

    /**
     * The worker has stopped: its handlers have ended, but for such as go on after the grace period and an interrupt, and their
     * outcomes are recorded, if the database could be reached. Also called where the start failed after {@link #starting} had
     * returned, and for a worker cranked by hand when that is closed; once for each worker, and not after a crash. What it
     * throws is logged.
     */
    default void stopped() {}
}
