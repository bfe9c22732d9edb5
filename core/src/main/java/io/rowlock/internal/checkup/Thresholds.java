package io.rowlock.internal.checkup;

import java.time.Duration;

/**
 * From where on something is a finding.
 *
 * @param openFor a transaction that is open for so long holds the others back
 * @param openForIds the same in transaction ids, where the age cannot be seen
 * @param late a due job that nobody has taken for so long is late
 * @param skew a node's clock that is off by so much is worth a word
 * @param deadRows fewer dead rows than this never are
 * @param bloatBytes a smaller table or index is never bloated
 */
public record Thresholds(
        Duration openFor, long openForIds, Duration late, Duration skew, long deadRows, long bloatBytes) {
    /** Those of {@code rowlock.checkup()}. */
    public static final Thresholds DEFAULT = new Thresholds(
            Duration.ofMinutes(5), 100_000, Duration.ofMinutes(5), Duration.ofSeconds(2), 20_000, 256 << 20);
}
