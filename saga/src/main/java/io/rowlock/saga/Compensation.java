package io.rowlock.saga;

import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;

/**
 * What undoes a step or a child saga, and how often it is tried.
 *
 * @param <S> the saga's state
 * @param work what is called
 * @param retry when and how often a failed compensation is tried again before a person is needed
 * @param onlyWhenCompleted whether a failing step is left alone though one of its attempts ended without an answer
 */
public record Compensation<S>(Work<S> work, RetryPolicy retry, boolean onlyWhenCompleted) {

    /**
     * The three ways to undo.
     *
     * @param <S> the saga's state
     */
    public sealed interface Work<S> {}

    /**
     * No transaction is open while the compensation runs.
     *
     * @param <S> the saga's state
     * @param call the work
     */
    public record Called<S>(CompensationCall<S> call) implements Work<S> {}

    /**
     * The compensation runs in the JDBC transaction that records it.
     *
     * @param <S> the saga's state
     * @param call the work
     */
    public record TransactionalJdbc<S>(TransactionalCompensationCall<S, Connection> call) implements Work<S> {}

    /**
     * The compensation runs in a framework's transaction that also records it.
     *
     * @param <S> the saga's state
     * @param <R> what the compensation works through
     * @param runner opens the transaction
     * @param call the work
     */
    public record Transactional<S, R>(TransactionRunner<R> runner, TransactionalCompensationCall<S, R> call)
            implements Work<S> {}
}
