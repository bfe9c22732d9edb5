package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import org.jspecify.annotations.Nullable;

/** A time as people type it: an instant, a time with its offset, or how far it is from now by this machine's clock. */
final class Moment {
    private Moment() {}

    /** A time that may have been: PT2H is two hours ago. */
    static Instant ago(String option, String text) {
        return read(option, text, -1, "how long ago, as PT2H or P1D");
    }

    /** A time that may come: PT2H is in two hours. */
    static Instant ahead(String option, String text) {
        return read(option, text, 1, "how long from now, as PT2H or P1D");
    }

    private static Instant read(String option, String text, int sign, String words) {
        try {
            if (!text.startsWith("P") && !text.startsWith("p")) {
                return ZonedDateTime.parse(text).toInstant();
            }
            Duration distance = Duration.parse(text);
            if (!distance.isNegative()) {
                return Instant.now().plus(distance.multipliedBy(sign));
            }
        } catch (DateTimeException | ArithmeticException e) {
            throw refused(option, text, words, e);
        }
        throw refused(option, text, words, null);
    }

    private static InvalidUseException refused(
            String option, String text, String words, @Nullable RuntimeException cause) {
        String message = option + " must be an instant as 2026-11-29T03:00:00Z, a time with its offset as"
                + " 2026-11-29T04:00:00+01:00, or " + words + "; got " + text
                + (local(text) ? ", which does not say its offset" : "");
        return cause == null ? new InvalidUseException(message) : new InvalidUseException(message, cause);
    }

    private static boolean local(String text) {
        try {
            return LocalDateTime.parse(text).getYear() != 0;
        } catch (DateTimeException e) {
            return false;
        }
    }
}
