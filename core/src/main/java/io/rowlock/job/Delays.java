package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The range of every delay a user may give. */
final class Delays {
    /** The longest delay the database's clock can be asked to add. */
    static final Duration LONGEST = Duration.ofDays(36_600);

    private Delays() {}

    static Duration checked(String what, @Nullable Duration delay) {
        if (delay == null || delay.isNegative() || delay.compareTo(LONGEST) > 0) {
            throw new InvalidUseException(what + " must be between 0 and 100 years, got " + delay);
        }
        return delay;
    }
}
