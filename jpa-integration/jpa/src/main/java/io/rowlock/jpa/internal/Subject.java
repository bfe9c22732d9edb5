package io.rowlock.jpa.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** What a job of an entity is about: {@code Order:42}. */
final class Subject {
    private static final int MAX = 200;

    private Subject() {}

    /** Name and id; where the column would refuse the id, the beginning of its SHA-256 stands for it. */
    static String of(String entity, String id) {
        String subject = entity + ":" + id;
        boolean storable = subject.codePointCount(0, subject.length()) <= MAX
                && subject.codePoints()
                        .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
        return storable ? subject : entity.substring(0, Math.min(entity.length(), 160)) + ":#" + hash(id);
    }

    private static String hash(String id) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(id.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
