package io.rowlock.saga;

import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;

/**
 * The three ways to do a step.
 *
 * @param <S> the saga's state
 */
public sealed interface StepWork<S> {
    /**
     * No transaction is open while the step runs.
     *
     * @param <S> the saga's state
     * @param call the work
     */
    record Called<S>(StepCall<S> call) implements StepWork<S> {}

    /**
     * The step runs in the JDBC transaction that records it.
     *
     * @param <S> the saga's state
     * @param call the work
     */
    record TransactionalJdbc<S>(TransactionalStepCall<S, Connection> call) implements StepWork<S> {}

    /**
     * The step runs in a framework's transaction that also records it.
     *
     * @param <S> the saga's state
     * @param <R> what the step works through
     * @param runner opens the transaction
     * @param call the work
     */
    record Transactional<S, R>(TransactionRunner<R> runner, TransactionalStepCall<S, R> call) implements StepWork<S> {}
}
