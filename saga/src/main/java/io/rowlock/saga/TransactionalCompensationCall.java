package io.rowlock.saga;

/**
 * Undoes a step in the transaction that also records the compensation: both commit together, or not at all (promise
 * P4). Called by many threads at once.
 *
 * @param <S> the saga's state
 * @param <R> what the transaction is worked through: a {@link java.sql.Connection}, an EntityManager
 */
@FunctionalInterface
public interface TransactionalCompensationCall<S, R> {
    /**
     * Undoes the step. Every throwable rolls everything back; then it is as for {@link CompensationCall#compensate}.
     *
     * @param state the state as it was recorded last
     * @param step which step of which saga
     * @param resource the open transaction; not to be committed, rolled back or closed
     * @throws Exception whatever went wrong
     */
    void compensate(S state, StepContext step, R resource) throws Exception;
}
