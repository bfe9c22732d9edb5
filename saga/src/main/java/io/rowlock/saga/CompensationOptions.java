package io.rowlock.saga;

import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;

/**
 * How a step or a child saga is undone. Compensations run in strict reverse of the order in which what they undo was
 * recorded, one at a time; one that fails for good stops there, with an alert, until a person retries, skips or resolves
 * it. For one thread.
 *
 * @param <S> the saga's state
 * @param <O> these options
 */
public abstract sealed class CompensationOptions<S, O extends CompensationOptions<S, O>> extends SagaSteps<S>
        permits StepOptions, ChildOptions {
    private final CompensationDraft<S> compensation;

    CompensationOptions(Line<S> line, CompensationDraft<S> compensation) {
        super(line);
        this.compensation = compensation;
    }

    /**
     * Undoes by calling the outside world; no transaction is open meanwhile.
     *
     * @param call the work
     * @return this
     */
    public final O compensate(CompensationCall<S> call) {
        compensation.work(call != null, new Compensation.Called<>(call));
        return self();
    }

    /**
     * Undoes in the JDBC transaction that also records the compensation.
     *
     * @param call the work
     * @return this
     */
    public final O compensateTransactionally(TransactionalCompensationCall<S, Connection> call) {
        compensation.work(call != null, new Compensation.TransactionalJdbc<>(call));
        return self();
    }

    /**
     * Undoes in a framework's transaction that also records the compensation.
     *
     * @param runner opens the transaction
     * @param call the work
     * @param <R> what the compensation works through
     * @return this
     */
    public final <R> O compensateTransactionally(
            TransactionRunner<R> runner, TransactionalCompensationCall<S, R> call) {
        compensation.work(runner != null && call != null, new Compensation.Transactional<>(runner, call));
        return self();
    }

    /**
     * Says that there is nothing to undo.
     *
     * @return this
     */
    public final O noCompensation() {
        compensation.nothing();
        return self();
    }

    /**
     * Sets when and how often a failed compensation is tried again before a person is needed. The step's own {@code
     * retry} does not count here: a step may give up early, an undo should not.
     *
     * @param policy {@link RetryPolicy#standard()} if never set
     * @return this
     */
    public final O retryCompensation(RetryPolicy policy) {
        compensation.retry(policy);
        return self();
    }

    abstract O self();
}
