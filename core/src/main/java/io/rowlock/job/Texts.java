package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import org.jspecify.annotations.Nullable;

/** The rules for texts that stand in columns, checked before any SQL (promises P14 and P15). */
final class Texts {
    /** Every indexed text is at most this long, here and in the table's CHECKs. */
    static final int MAX_INDEXED = 200;

    private Texts() {}

    /** Checks a text that stands in an index: present, not blank, at most 200 characters, storable. */
    static String indexed(String what, @Nullable String value) {
        return within(what, value, "shorten it, or use a hash of the long text");
    }

    /** The same, with what to do about one that is too long. */
    static String within(String what, @Nullable String value, String remedy) {
        if (value == null || value.isBlank()) {
            throw new InvalidUseException(what + " must not be " + (value == null ? "null" : "blank"));
        }
        int length = value.codePointCount(0, value.length());
        if (length > MAX_INDEXED) {
            throw new InvalidUseException(
                    what + " must have at most " + MAX_INDEXED + " characters, got " + length + "; " + remedy);
        }
        return storable(what, value);
    }

    /** Checks that PostgreSQL can store the text as it is: no control characters, no half of a surrogate pair. */
    static String storable(String what, String value) {
        for (int i = 0; i < value.length(); ) {
            int point = value.codePointAt(i);
            boolean loneSurrogate = Character.isBmpCodePoint(point) && Character.isSurrogate((char) point);
            if (Character.isISOControl(point) || loneSurrogate) {
                throw new InvalidUseException(String.format(
                        "%s must have no control characters and no lone surrogates, got U+%04X at index %d; remove it",
                        what, point, i));
            }
            i += Character.charCount(point);
        }
        return value;
    }
}
