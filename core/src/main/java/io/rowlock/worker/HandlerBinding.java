package io.rowlock.worker;

import io.rowlock.job.JobHandler;
import io.rowlock.job.JobKind;
import io.rowlock.job.TransactionalJobHandler;
import io.rowlock.spi.TransactionRunner;

/**
 * A kind with the handler that does it.
 *
 * @param <T> the type of the payload
 * @param kind the kind
 * @param contract the handler and how it is called
 * @param settings how its jobs are run
 */
public record HandlerBinding<T>(JobKind<T> kind, Contract<T> contract, HandlerSettings settings) {

    /**
     * The two ways to do a job.
     *
     * @param <T> the type of the payload
     */
    public sealed interface Contract<T> {}

    /**
     * No transaction is open while the handler runs.
     *
     * @param <T> the type of the payload
     * @param handler the handler
     */
    public record Leased<T>(JobHandler<T> handler) implements Contract<T> {}

    /**
     * The handler runs in the transaction that completes the job.
     *
     * @param <T> the type of the payload
     * @param <R> what the handler works through
     * @param runner opens the transaction
     * @param handler the handler
     */
    public record Transactional<T, R>(TransactionRunner<R> runner, TransactionalJobHandler<T, R> handler)
            implements Contract<T> {}

    /**
     * The handler runs in a JDBC transaction on a connection of the worker's own data source.
     *
     * @param <T> the type of the payload
     * @param handler the handler
     */
    public record TransactionalJdbc<T>(TransactionalJobHandler<T, java.sql.Connection> handler)
            implements Contract<T> {}
}
