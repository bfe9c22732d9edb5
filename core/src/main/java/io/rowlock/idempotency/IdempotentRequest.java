package io.rowlock.idempotency;

import io.rowlock.error.InvalidUseException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A request that its client may repeat. Its key is bound to all of it: the same key from somebody else, with another method or for
 * another path is another request, and neither answers the other nor tells that it exists; with another fingerprint it is refused.
 * Immutable.
 *
 * @param key the client's name for it
 * @param principal who asks, as the application has made sure, with the tenant if names are the same in several ({@code
 *     acme/ada}); for clients that nobody knows something that tells them apart; 1 to 200 characters
 * @param method what is asked for, such as {@code POST}; 1 to 40 characters
 * @param path where, the concrete one with all ids in it ({@code /orders/42/payments}), and the query where it matters; 1 to 2,000
 *     characters
 * @param fingerprint of what is sent, 1 to 200 characters; the same for each repetition
 */
public record IdempotentRequest(IdempotencyKey key, String principal, String method, String path, String fingerprint) {
    /**
     * Checks all.
     *
     * @throws InvalidUseException if a text is null, blank, too long, or holds control characters or halves of surrogate pairs
     */
    public IdempotentRequest {
        if (key == null) {
            throw new InvalidUseException("The key of a request must not be null");
        }
        RequestTexts.check("principal", principal, 200);
        RequestTexts.check("method", method, 40);
        RequestTexts.check("path", path, 2_000);
        RequestTexts.check("fingerprint", fingerprint, 200);
    }

    /**
     * A request whose fingerprint is SHA-256 of its body, byte by byte: a client that writes the same JSON with other blanks has
     * sent something else. Where that is too strict give a fingerprint of the values that matter.
     *
     * @param key as for the record
     * @param principal as for the record
     * @param method as for the record
     * @param path as for the record
     * @param body what was sent; empty for nothing
     * @return the request
     * @throws InvalidUseException as for the record, or if the body is null
     */
    public static IdempotentRequest of(IdempotencyKey key, String principal, String method, String path, byte[] body) {
        if (body == null) {
            throw new InvalidUseException("The body of a request must not be null; an empty one has no bytes");
        }
        return new IdempotentRequest(key, principal, method, path, sha256(body));
    }

    private static String sha256(byte[] body) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
