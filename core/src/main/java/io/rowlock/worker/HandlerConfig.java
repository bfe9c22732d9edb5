package io.rowlock.worker;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.DeathHook;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How one kind's jobs are run. Filled in by the lambda of {@link WorkerConfig}'s handle methods; for one thread. */
public final class HandlerConfig {
    private @Nullable RetryPolicy retry;
    private @Nullable Duration timeout;
    private @Nullable Integer concurrency;
    private @Nullable DeathHook deathHook;

    HandlerConfig() {}

    /**
     * Sets when and how often failed jobs are tried again.
     *
     * @param policy {@link RetryPolicy#standard()} if never set
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public HandlerConfig retry(RetryPolicy policy) {
        retry = once("retry", retry, policy);
        return this;
    }

    /**
     * Limits each attempt: then its thread is interrupted, its lease is taken away, and it is retried no earlier than
     * the lease would have ended. A thread that ignores the interrupt may overlap with the next attempt.
     *
     * @param limit 1 ms to 7 days; no limit by default
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public HandlerConfig timeout(Duration limit) {
        timeout = once("timeout", timeout, WorkerConfig.between("timeout", limit, 1, Duration.ofDays(7)));
        return this;
    }

    /**
     * Limits how many jobs of this kind the worker runs at once.
     *
     * @param most 1 to 10,000; by default only the queue's limit counts
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public HandlerConfig concurrency(int most) {
        concurrency = once("concurrency", concurrency, WorkerConfig.between("concurrency", most, 1, 10_000));
        return this;
    }

    /**
     * Calls this in the transaction in which a job of the kind becomes a dead letter.
     *
     * @param hook none by default
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public HandlerConfig onDeath(DeathHook hook) {
        deathHook = once("onDeath", deathHook, hook);
        return this;
    }

    HandlerSettings settings() {
        return new HandlerSettings(retry == null ? RetryPolicy.standard() : retry, timeout, concurrency, deathHook);
    }

    private static <V> V once(String option, @Nullable V present, @Nullable V value) {
        if (value == null) {
            throw new InvalidUseException(option + " must not be null");
        }
        if (present != null) {
            throw new InvalidUseException(option + " is set twice for one handler");
        }
        return value;
    }
}
