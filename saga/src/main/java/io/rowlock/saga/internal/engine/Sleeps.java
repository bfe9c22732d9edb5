package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** When sleeps that states say are over: now at once, and within 100 years. */
final class Sleeps {
    private static final Duration LONGEST = Duration.ofDays(36_525);

    private Sleeps() {}

    static Instant end(Instant now, @Nullable Duration duration) {
        if (duration == null || duration.compareTo(LONGEST) > 0) {
            throw new InvalidUseException("A saga sleeps for up to 100 years, got " + duration);
        }
        return duration.isNegative() ? now : now.plus(duration);
    }

    static Instant end(Instant now, @Nullable Instant until) {
        if (until == null || until.isAfter(now.plus(LONGEST))) {
            throw new InvalidUseException("A saga sleeps for up to 100 years, got until " + until);
        }
        return until.isBefore(now) ? now : until;
    }
}
