package io.rowlock.spi;

import java.sql.Connection;

/**
 * Tells Rowlock that the transaction of an enqueue has committed, so that {@code outbox.enqueue(connection, ...)} wakes
 * the workers by itself. Written for whatever commits an application's transactions: a transaction manager of its own,
 * Spring ({@code TransactionSynchronization}), JTA ({@code TransactionSynchronizationRegistry}). Set by
 * {@code Rowlock.builder().afterCommit(...)}; with Hibernate none is needed for the jobs of entities and
 * {@code JpaOutbox}.
 *
 * <p>A hint only. Where there is none, or it answers false or throws, the jobs are found at the next poll, unless the
 * caller gives them to {@code Rowlock.wake}. Called by many threads at once.
 */
@FunctionalInterface
public interface AfterCommit {
    /**
     * Has the action run once, after the transaction that is open on the connection has committed; never if it rolls
     * back. Called by the thread of the enqueue, once per call of the outbox that wrote jobs, after they were written: an
     * action that is kept holds one small object for each lane of that call. Must neither send SQL nor block. After a
     * rollback to a savepoint the action may run or not.
     *
     * <p>With Spring: {@code TransactionSynchronizationManager.registerSynchronization}, and run it in
     * {@code afterCommit()}. With JTA: {@code registerInterposedSynchronization}, and run it in
     * {@code afterCompletion(STATUS_COMMITTED)}.
     *
     * @param connection the connection given to the outbox, in a transaction
     * @param action wakes the workers: quick, sends no SQL, does not block and never throws; safe to run on any thread,
     *     also more than once
     * @return whether the action will run after the commit; false if this connection's transaction is not known here
     */
    boolean register(Connection connection, Runnable action);
}
