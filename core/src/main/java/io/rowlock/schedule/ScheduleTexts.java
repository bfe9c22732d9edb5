package io.rowlock.schedule;

import io.rowlock.error.InvalidUseException;
import org.jspecify.annotations.Nullable;

/** What a text of a schedule's row may be, checked before any SQL. */
final class ScheduleTexts {
    private ScheduleTexts() {}

    /** Checks that it is there, not blank, not too long, and that PostgreSQL can store it as it is. */
    static String checked(String what, int longest, @Nullable String text) {
        if (text == null || text.isBlank()) {
            throw new InvalidUseException(what + " must not be " + (text == null ? "null" : "blank"));
        }
        int length = text.codePointCount(0, text.length());
        if (length > longest) {
            throw new InvalidUseException(what + " must have at most " + longest + " characters, got " + length);
        }
        if (text.codePoints().anyMatch(ScheduleTexts::unstorable)) {
            throw new InvalidUseException(what + " must have no control characters and no lone surrogates");
        }
        return text;
    }

    private static boolean unstorable(int point) {
        return Character.isISOControl(point)
                || (Character.isBmpCodePoint(point) && Character.isSurrogate((char) point));
    }
}
