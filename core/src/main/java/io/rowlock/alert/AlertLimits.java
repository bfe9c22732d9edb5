package io.rowlock.alert;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * From when on workers alert of what they see by looking, about once a minute, first a while after the start. Immutable: each
 * method returns a changed copy.
 *
 * @param unknownKind how long a job of a kind that the worker does not handle may be due with nobody at work on its kind; null:
 *     not looked at
 * @param queueLag how long a job of the worker's own kinds and queues may be due before it is begun; null: not looked at
 * @param snapshotPinned how long a transaction, a prepared one, a replication slot or a standby may keep old rows from being
 *     removed; null: not looked at
 * @param clockSkew how far the worker's clock may be from the database's, though no promise depends on it; null: not looked at
 * @param workersLost how often within an hour jobs of one of the worker's kinds may lose a worker; null: not looked at
 */
public record AlertLimits(
        @Nullable Duration unknownKind,
        @Nullable Duration queueLag,
        @Nullable Duration snapshotPinned,
        @Nullable Duration clockSkew,
        @Nullable Integer workersLost) {
    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration MOST = Duration.ofDays(365);
    private static final AlertLimits STANDARD = new AlertLimits(
            Duration.ofMinutes(15), Duration.ofMinutes(15), Duration.ofMinutes(15), Duration.ofSeconds(10), 5);

    /**
     * Checks each: durations from 1 s to 365 days, {@code workersLost} from 1 to 1,000.
     *
     * @throws InvalidUseException if one is out of range
     */
    public AlertLimits {
        check("unknownKind", unknownKind);
        check("queueLag", queueLag);
        check("snapshotPinned", snapshotPinned);
        check("clockSkew", clockSkew);
        if (workersLost != null && (workersLost < 1 || workersLost > 1_000)) {
            throw new InvalidUseException("workersLost must be between 1 and 1000, got " + workersLost);
        }
    }

    /**
     * The limits of who names none: 15 min, 15 min, 15 min, 10 s, 5.
     *
     * @return the defaults
     */
    public static AlertLimits standard() {
        return STANDARD;
    }

    /**
     * Nothing is looked at. What happens in a worker, such as a death, is an alert all the same.
     *
     * @return limits that are all off
     */
    public static AlertLimits none() {
        return new AlertLimits(null, null, null, null, null);
    }

    /**
     * Changes the limit for unknown kinds.
     *
     * @param limit 1 s to 365 days; null: off
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public AlertLimits unknownKind(@Nullable Duration limit) {
        return new AlertLimits(limit, queueLag, snapshotPinned, clockSkew, workersLost);
    }

    /**
     * Changes the limit for lags.
     *
     * @param limit 1 s to 365 days; null: off
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public AlertLimits queueLag(@Nullable Duration limit) {
        return new AlertLimits(unknownKind, limit, snapshotPinned, clockSkew, workersLost);
    }

    /**
     * Changes the limit for pinned snapshots.
     *
     * @param limit 1 s to 365 days; null: off
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public AlertLimits snapshotPinned(@Nullable Duration limit) {
        return new AlertLimits(unknownKind, queueLag, limit, clockSkew, workersLost);
    }

    /**
     * Changes the limit for clocks.
     *
     * @param limit 1 s to 365 days; null: off
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public AlertLimits clockSkew(@Nullable Duration limit) {
        return new AlertLimits(unknownKind, queueLag, snapshotPinned, limit, workersLost);
    }

    /**
     * Changes the limit for lost workers.
     *
     * @param limit 1 to 1,000; null: off
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public AlertLimits workersLost(@Nullable Integer limit) {
        return new AlertLimits(unknownKind, queueLag, snapshotPinned, clockSkew, limit);
    }

    private static void check(String what, @Nullable Duration limit) {
        if (limit != null && (limit.compareTo(LEAST) < 0 || limit.compareTo(MOST) > 0)) {
            throw new InvalidUseException(what + " must be between " + LEAST + " and " + MOST + ", got " + limit);
        }
    }
}
