package io.rowlock.idempotency;

import io.rowlock.error.InvalidUseException;
import org.jspecify.annotations.Nullable;

/** The rules for what a request is known by, checked before any SQL (promises P14 and P15). */
final class RequestTexts {
    private RequestTexts() {}

    /** Checks a text: present, not blank, not too long, storable as it is. */
    static void check(String what, @Nullable String value, int longest) {
        if (value == null || value.isBlank()) {
            throw new InvalidUseException(
                    "The " + what + " of a request must not be " + (value == null ? "null" : "blank"));
        }
        int length = value.codePointCount(0, value.length());
        if (length > longest) {
            throw new InvalidUseException("The " + what + " of a request must have at most " + longest
                    + " characters, got " + length + "; use a hash of the long text");
        }
        boolean storable = value.codePoints()
                .noneMatch(point -> Character.isISOControl(point) || Character.getType(point) == Character.SURROGATE);
        if (!storable) {
            throw new InvalidUseException(
                    "The " + what + " of a request must have no control characters and no halves of surrogate pairs");
        }
    }
}
