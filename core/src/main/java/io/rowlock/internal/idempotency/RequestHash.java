package io.rowlock.internal.idempotency;

import io.rowlock.idempotency.IdempotentRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What rows and locks of requests are found by. Each part goes in with its length, so that no two sets of parts run together. */
final class RequestHash {
    private RequestHash() {}

    /** The same for the same client and place only. */
    static String scope(IdempotentRequest request) {
        return HexFormat.of().formatHex(sha256(request.principal(), request.method(), request.path()));
    }

    /** Of the advisory lock: the whole database shares these 64 bits. */
    static long lock(String tables, IdempotentRequest request) {
        byte[] hash = sha256(tables, request.key().value(), request.principal(), request.method(), request.path());
        return ByteBuffer.wrap(hash).getLong();
    }

    private static byte[] sha256(String... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String part : parts) {
                byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
                digest.update(
                        ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).array());
                digest.update(bytes);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
