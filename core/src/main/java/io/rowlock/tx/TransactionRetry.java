package io.rowlock.tx;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.RetryPolicy;
import java.time.Duration;

/**
 * How often and for how long a transaction is tried again, and whether its work may be done twice. Immutable: each method gives a new
 * one.
 *
 * @param policy how many attempts, and how long between them; by default 20, from 20 ms doubled each time up to 2 s, varied by half.
 *     What it never retries is not
 * @param within from the first attempt on, 1 ms to 1 h; 30 s by default. No further attempt begins after it; one that runs is not
 *     cut short
 * @param idempotent whether the work may be done again where its COMMIT may have succeeded; false by default
 */
public record TransactionRetry(RetryPolicy policy, Duration within, boolean idempotent) {
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final TransactionRetry STANDARD = new TransactionRetry(
            RetryPolicy.exponential(Duration.ofMillis(20))
                    .max(Duration.ofSeconds(2))
                    .jitter(0.5)
                    .maxAttempts(20),
            Duration.ofSeconds(30),
            false);

    /**
     * Checks both.
     *
     * @throws InvalidUseException if the policy or the time is null, or the time out of range
     */
    public TransactionRetry {
        if (policy == null) {
            throw new InvalidUseException("The policy of a transaction's retries must not be null");
        }
        if (within == null || within.compareTo(Duration.ofMillis(1)) < 0 || within.compareTo(LONGEST) > 0) {
            throw new InvalidUseException("within must be between 1 ms and " + LONGEST + ", got " + within);
        }
    }

    /**
     * Twenty attempts within half a minute: enough for a failover, and little enough to be told soon.
     *
     * @return the defaults
     */
    public static TransactionRetry standard() {
        return STANDARD;
    }

    /**
     * Declares that the work may be done again though it may have committed before: because it writes the same a second time, finds
     * what it has written, or runs under an idempotency key.
     *
     * @return the changed copy
     */
    public TransactionRetry ofIdempotentWork() {
        return new TransactionRetry(policy, within, true);
    }

    /**
     * Changes how many attempts there are, and how long between them.
     *
     * @param changed the policy
     * @return the changed copy
     * @throws InvalidUseException if null
     */
    public TransactionRetry policy(RetryPolicy changed) {
        return new TransactionRetry(changed, within, idempotent);
    }

    /**
     * Changes after what time no further attempt begins.
     *
     * @param time 1 ms to 1 h
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public TransactionRetry within(Duration time) {
        return new TransactionRetry(policy, time, idempotent);
    }
}
