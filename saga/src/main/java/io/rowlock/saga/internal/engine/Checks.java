package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import org.jspecify.annotations.Nullable;

/** What can be refused before any SQL (promise P15). */
final class Checks {
    private static final int LONGEST = 200;

    private Checks() {}

    /** 1 to 200 characters that a text column stores. */
    static String name(String what, @Nullable String name) {
        if (name == null || name.isBlank()) {
            throw new InvalidUseException(what + " must not be " + (name == null ? "null" : "blank"));
        }
        if (name.length() > LONGEST) {
            throw new InvalidUseException(what + " must have at most " + LONGEST + " characters, got " + name.length()
                    + "; use a hash of it");
        }
        if (name.codePoints().anyMatch(Checks::unstorable)) {
            throw new InvalidUseException(what + " must have no control characters and no lone surrogates");
        }
        return name;
    }

    private static boolean unstorable(int point) {
        return Character.isISOControl(point) || (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }
}
