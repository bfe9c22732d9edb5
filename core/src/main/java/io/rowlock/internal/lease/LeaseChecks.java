package io.rowlock.internal.lease;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What can be refused before any SQL. */
final class LeaseChecks {
    static final Duration SHORTEST = Duration.ofSeconds(1);
    static final Duration LONGEST = Duration.ofDays(1);
    private static final int MAX_NAME = 200;

    private LeaseChecks() {}

    static String name(@Nullable String name) {
        return name("The name of a lease", name, MAX_NAME);
    }

    static String name(String what, @Nullable String name, int most) {
        if (name == null || name.isBlank()) {
            throw new InvalidUseException(what + " must not be " + (name == null ? "null" : "blank"));
        }
        int length = name.codePointCount(0, name.length());
        if (length > most) {
            throw new InvalidUseException(
                    what + " must have at most " + most + " characters, got " + length + "; shorten it");
        }
        boolean unstorable = name.codePoints()
                .anyMatch(point -> Character.isISOControl(point)
                        || (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE));
        if (unstorable) {
            throw new InvalidUseException(
                    what + " must have no control characters and no lone surrogates; remove them");
        }
        return name;
    }

    static Duration timeToLive(@Nullable Duration time) {
        if (time == null || time.compareTo(SHORTEST) < 0 || time.compareTo(LONGEST) > 0) {
            throw new InvalidUseException(
                    "The time to live of a lease must be between " + SHORTEST + " and " + LONGEST + ", got " + time);
        }
        return time;
    }

    static Duration notNegative(String what, @Nullable Duration time) {
        if (time == null || time.isNegative()) {
            throw new InvalidUseException(what + " must be 0 or more, got " + time);
        }
        return time;
    }

    static int page(int most) {
        if (most < 1 || most > 1_000) {
            throw new InvalidUseException("most must be between 1 and 1000, got " + most);
        }
        return most;
    }

    static <T> T present(String what, @Nullable T value) {
        if (value == null) {
            throw new InvalidUseException(what + " must not be null");
        }
        return value;
    }
}
