package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import org.jspecify.annotations.Nullable;

/** The rule for names that stand in rows, the same as for kinds of jobs (promises P14 and P15). */
final class Names {
    private static final int LONGEST = 200;

    private Names() {}

    /** What is wrong with the name and how to put it right, or null if nothing is. */
    static @Nullable String mistake(@Nullable String name) {
        if (name == null || name.isBlank()) {
            return "must not be " + (name == null ? "null" : "blank");
        }
        int length = name.codePointCount(0, name.length());
        if (length > LONGEST) {
            return "must have at most " + LONGEST + " characters, got " + length + "; shorten it";
        }
        return name.codePoints()
                .filter(Names::unstorable)
                .mapToObj(point -> String.format(
                        "must have no control characters and no lone surrogates, got U+%04X; remove it", point))
                .findFirst()
                .orElse(null);
    }

    /** Throws if the name is not allowed. */
    static void refuse(String what, @Nullable String name) {
        String mistake = mistake(name);
        if (mistake != null) {
            throw new InvalidUseException(what + " " + mistake);
        }
    }

    private static boolean unstorable(int point) {
        return Character.isISOControl(point)
                || (Character.isBmpCodePoint(point) && Character.isSurrogate((char) point));
    }
}
