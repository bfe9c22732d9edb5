package io.rowlock.saga;

/**
 * The work of a step in the transaction that also records the step: what it writes there and the step's record commit
 * together, or not at all (promise P4). So its outcome is never unknown. Called by many threads at once.
 *
 * @param <S> the saga's state
 * @param <R> what the transaction is worked through: a {@link java.sql.Connection}, an EntityManager
 */
@FunctionalInterface
public interface TransactionalStepCall<S, R> {
    /**
     * Does the step. Every throwable rolls everything back; then it is as for {@link StepCall#call}.
     *
     * @param state the state as it was recorded last
     * @param step which step of which saga
     * @param resource the open transaction; not to be committed, rolled back or closed
     * @return the state to record with this step, never null
     * @throws Exception whatever went wrong
     */
    S call(S state, StepContext step, R resource) throws Exception;
}
