package io.rowlock.saga;

import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;

/**
 * A step with a name, that wants its work. For one thread.
 *
 * @param <S> the saga's state
 */
public final class StepStage<S> {
    private final Line<S> line;
    private final StepDraft<S> step;

    StepStage(Line<S> line, StepDraft<S> step) {
        this.line = line;
        this.step = step;
    }

    /**
     * Calls the outside world; no transaction is open meanwhile.
     *
     * @param call the work
     * @return the step's options, and the chain
     */
    public StepOptions<S> call(StepCall<S> call) {
        return with(call != null, new StepWork.Called<>(call));
    }

    /**
     * Works in the JDBC transaction that also records the step.
     *
     * @param call the work
     * @return the step's options, and the chain
     */
    public StepOptions<S> transactional(TransactionalStepCall<S, Connection> call) {
        return with(call != null, new StepWork.TransactionalJdbc<>(call));
    }

    /**
     * Works in a framework's transaction that also records the step, such as one of an EntityManager.
     *
     * @param runner opens the transaction
     * @param call the work
     * @param <R> what the step works through
     * @return the step's options, and the chain
     */
    public <R> StepOptions<S> transactional(TransactionRunner<R> runner, TransactionalStepCall<S, R> call) {
        return with(runner != null && call != null, new StepWork.Transactional<>(runner, call));
    }

    private StepOptions<S> with(boolean complete, StepWork<S> work) {
        step.work(complete, work);
        return new StepOptions<>(line, step);
    }
}
