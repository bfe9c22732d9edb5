package io.rowlock.jpa.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Names a row, as subjects and ordering keys do: {@code Order:42}.
 *
 * @param entity the entity's name; or entity and attribute where a value is meant
 * @param id the id, or the value, as text
 */
public record RowName(String entity, String id) {
    private static final int MAX = 200;

    /** Name and id; where a column would refuse the id, the beginning of its SHA-256 stands for it. */
    String text() {
        String text = entity + ":" + id;
        boolean storable = text.codePointCount(0, text.length()) <= MAX
                && text.codePoints()
                        .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
        return storable ? text : entity.substring(0, Math.min(entity.length(), 160)) + ":#" + hash(id);
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
