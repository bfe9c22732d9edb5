package io.rowlock.job;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What one queue has of one kind. No count goes above {@value #MOST}: that many means so many or more. Of what is due, and of
 * what waits for its time, the first {@value #MOST} of each priority are looked at.
 *
 * @param queue the queue
 * @param kind the kind
 * @param lag what is due and not being worked on
 * @param future how many wait for their time
 * @param leased how many are being worked on
 * @param suspects how many of those due, waiting or leased have lost a lease before
 * @param parked how many follow a busy ordering key or a full limit
 * @param dead how many dead letters there are
 */
public record JobCounts(
        String queue, String kind, Lag lag, long future, long leased, long suspects, long parked, long dead) {
    /** Where counting stops. */
    public static final int MOST = 10_000;

    /**
     * What is due, and for how long.
     *
     * @param due how many are due
     * @param oldest when the one that has waited longest was due, or null if none is
     * @param behind for how long that is, by the database's clock; zero if none is due
     */
    public record Lag(long due, @Nullable Instant oldest, Duration behind) {}
}
