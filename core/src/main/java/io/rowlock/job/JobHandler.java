package io.rowlock.job;

/**
 * Does jobs of one kind under the leased contract: no transaction of Rowlock is open while it runs (promise P5), and it
 * may run again after a crash (promise P4), so it calls the outside world with {@link JobContext#idempotencyKey()}.
 * Called by many threads at once.
 *
 * @param <T> the type of the payload
 */
@FunctionalInterface
public interface JobHandler<T> {
    /**
     * Does the job. Returning completes it; any throwable makes it retry by its policy, except {@link PermanentFailure}
     * (dead at once), {@link RetryAfter} and {@link Snooze}.
     *
     * @param payload the payload
     * @param job the job and its lease
     * @throws Exception whatever went wrong
     */
    void handle(T payload, JobContext job) throws Exception;
}
