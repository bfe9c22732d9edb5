package io.rowlock.saga;

/**
 * The work of a step that calls the outside world. No transaction is open while it runs (promise P5), and it may run
 * again after a crash or a lost answer (promise P4): give {@link StepContext#key()} to whatever it calls. Called by many
 * threads at once.
 *
 * @param <S> the saga's state
 */
@FunctionalInterface
public interface StepCall<S> {
    /**
     * Does the step. Any throwable makes it retry by its policy, except {@link io.rowlock.job.PermanentFailure} (failed
     * for good at once), {@link io.rowlock.job.RetryAfter} and {@link io.rowlock.job.Snooze}.
     *
     * @param state the state as it was recorded last
     * @param step which step of which saga, and its idempotency key
     * @return the state to record with this step, never null
     * @throws Exception whatever went wrong
     */
    S call(S state, StepContext step) throws Exception;
}
