package io.rowlock.idempotency;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long answers are kept, and how long a request waits for another with its key. Immutable: each method gives a new one.
 *
 * @param lifetime from the answer on, by the database's clock, 1 s to 366 days; 24 h by default. Then the key is free again, and a
 *     request under it is a new one. Clients must be told, and give up before
 * @param patience how long a request waits at most while another transaction is doing it, 0 to 1 minute; 1 s by default. It keeps
 *     its connection meanwhile, and asks every few milliseconds
 */
public record IdempotencyOptions(Duration lifetime, Duration patience) {
    private static final IdempotencyOptions STANDARD =
            new IdempotencyOptions(Duration.ofHours(24), Duration.ofSeconds(1));

    /**
     * Checks both.
     *
     * @throws InvalidUseException if one is null or out of range
     */
    public IdempotencyOptions {
        check("lifetime", lifetime, Duration.ofSeconds(1), Duration.ofDays(366));
        check("patience", patience, Duration.ZERO, Duration.ofMinutes(1));
    }

    /**
     * A day, and a second.
     *
     * @return the defaults
     */
    public static IdempotencyOptions standard() {
        return STANDARD;
    }

    /**
     * Changes how long answers are kept.
     *
     * @param time 1 s to 366 days
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public IdempotencyOptions keptFor(Duration time) {
        return new IdempotencyOptions(time, patience);
    }

    /**
     * Changes how long a request waits for another with its key.
     *
     * @param time 0 to 1 minute; with 0 it is told at once that the other is being done
     * @return the changed copy
     * @throws InvalidUseException if out of range
     */
    public IdempotencyOptions waiting(Duration time) {
        return new IdempotencyOptions(lifetime, time);
    }

    private static void check(String what, @Nullable Duration time, Duration least, Duration most) {
        if (time == null || time.compareTo(least) < 0 || time.compareTo(most) > 0) {
            throw new InvalidUseException(what + " must be between " + least + " and " + most + ", got " + time);
        }
    }
}
