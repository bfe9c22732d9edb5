package io.rowlock.idempotency;

import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * A client's name for one request, best a random UUID: the same for each repetition, another one for each further request.
 * Immutable.
 *
 * @param value 1 to 200 printable characters of ASCII, the blank too, but not only blanks
 */
public record IdempotencyKey(String value) {
    private static final int LONGEST = 200;

    /**
     * Checks it.
     *
     * @throws IdempotencyRefusedException with {@link Reason#MALFORMED_KEY} if it is not allowed, or null: the client did not
     *     give one
     */
    public IdempotencyKey {
        if (value == null || value.isBlank()) {
            throw malformed("This request needs an idempotency key; send one in the header Idempotency-Key");
        }
        if (value.length() > LONGEST) {
            throw malformed("An idempotency key has at most " + LONGEST + " characters, this one " + value.length());
        }
        if (!value.chars().allMatch(IdempotencyKey::printable)) {
            throw malformed("An idempotency key has printable characters of ASCII only");
        }
    }

    /**
     * Reads the value of the header {@code Idempotency-Key}: a string in quotes, as the draft and RFC 8941, section 3.3.3, say, of
     * which parameters behind it count for nothing; or, as many clients send it, the key without quotes.
     *
     * @param header the header's value; null: there is none
     * @return the key
     * @throws IdempotencyRefusedException with {@link Reason#MALFORMED_KEY} if there is no key in it
     */
    public static IdempotencyKey ofHeader(@Nullable String header) {
        String trimmed = header == null ? "" : header.strip();
        return new IdempotencyKey(trimmed.startsWith("\"") ? quoted(trimmed) : trimmed);
    }

    private static String quoted(String header) {
        StringBuilder key = new StringBuilder();
        for (int i = 1; i < header.length(); i++) {
            char c = header.charAt(i);
            if (c == '"') {
                String rest = header.substring(i + 1).strip();
                if (rest.isEmpty() || rest.startsWith(";")) {
                    return key.toString();
                }
                break;
            }
            if (c == '\\') {
                i++;
                if (i == header.length() || "\"\\".indexOf(header.charAt(i)) < 0) {
                    break;
                }
            }
            key.append(header.charAt(i));
        }
        throw malformed("The header Idempotency-Key holds no string as of RFC 8941, such as \"8e03978e-40d5-43dd\"");
    }

    private static boolean printable(int c) {
        return c >= ' ' && c <= '~';
    }

    private static IdempotencyRefusedException malformed(String message) {
        return new IdempotencyRefusedException(Reason.MALFORMED_KEY, message);
    }
}
