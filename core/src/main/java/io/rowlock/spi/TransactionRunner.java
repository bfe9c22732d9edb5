package io.rowlock.spi;

import java.sql.Connection;

/**
 * Runs transactional handlers inside the transactions of a framework: plain JDBC, Jakarta Persistence, JTA. Called by
 * many threads at once.
 *
 * @param <R> what a handler works through: a {@link Connection}, an EntityManager
 */
@FunctionalInterface
public interface TransactionRunner<R> {
    /**
     * Begins a READ COMMITTED transaction of its own, calls the three steps of the work in order, flushing between the
     * second and the third, and commits. Any throwable rolls back and is thrown on. Where the handler has ended the
     * transaction, the third step throws {@link io.rowlock.job.PermanentFailure}.
     *
     * @param work the steps
     * @throws Exception whatever a step, the flush or the commit threw
     */
    void run(Work<R> work) throws Exception;

    /**
     * What happens in the transaction.
     *
     * @param <R> what a handler works through
     */
    interface Work<R> {
        /**
         * First step: locks the job under its lease.
         *
         * @param connection the transaction's own connection
         * @throws Exception if the job is not held any more
         */
        void begun(Connection connection) throws Exception;

        /**
         * Second step: calls the handler.
         *
         * @param resource what the handler works through
         * @throws Exception whatever the handler threw
         */
        void handle(R resource) throws Exception;

        /**
         * Third step, after everything the handler wrote was sent to the database: completes the job.
         *
         * @param connection the transaction's own connection
         * @throws Exception if the job is not held any more
         */
        void completing(Connection connection) throws Exception;
    }
}
