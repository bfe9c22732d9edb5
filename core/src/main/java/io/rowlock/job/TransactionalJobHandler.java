package io.rowlock.job;

/**
 * Does jobs of one kind inside a transaction that also completes the job: what it writes there and the completion
 * commit together, or not at all (promise P4). Rowlock begins, locks the job's row under its lease, calls, completes
 * and commits. Every throwable rolls everything back. Called by many threads at once.
 *
 * <p>The end of the transaction is Rowlock's: the connection given to a JDBC handler refuses {@code commit()}, {@code
 * rollback()}, {@code setAutoCommit(true)}, {@code close()} and {@code abort()} with an {@code InvalidUseException}
 * (savepoints work, and {@code unwrap} gives the driver's own). Where a handler ends the transaction all the same, by SQL
 * or by its EntityManager, its job becomes a dead letter at once: another attempt would repeat what was committed.
 *
 * @param <T> the type of the payload
 * @param <R> what the transaction is worked through: a {@link java.sql.Connection}, an EntityManager
 */
@FunctionalInterface
public interface TransactionalJobHandler<T, R> {
    /**
     * Does the job.
     *
     * @param payload the payload
     * @param job the job and its lease
     * @param resource the open transaction; not to be committed, rolled back or closed
     * @throws Exception whatever went wrong; everything is rolled back
     */
    void handle(T payload, JobContext job, R resource) throws Exception;
}
