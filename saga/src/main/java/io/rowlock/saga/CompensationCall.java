package io.rowlock.saga;

/**
 * Undoes a step in the outside world. It may run again after a crash, and it may run for a step whose outcome is
 * unknown: it must be content when there is nothing to undo. Called by many threads at once.
 *
 * @param <S> the saga's state
 */
@FunctionalInterface
public interface CompensationCall<S> {
    /**
     * Undoes the step. Returning ends it; any throwable makes it retry by its own policy, and once that is used up, or
     * on {@link io.rowlock.job.PermanentFailure}, the saga waits for a person.
     *
     * @param state the state as it was recorded last: without what the undone step would have returned if its outcome is
     *     unknown, so undo by {@link StepContext#key(String)}; inside branches that are not joined, the branch's state
     * @param step which step of which saga; {@link StepContext#key()} is the compensation's own key, {@code
     *     key("reserve-stock")} the key under which that step was done
     * @throws Exception whatever went wrong
     */
    void compensate(S state, StepContext step) throws Exception;
}
