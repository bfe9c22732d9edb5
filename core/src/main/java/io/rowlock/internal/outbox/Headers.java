package io.rowlock.internal.outbox;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The headers' column: a small JSON object of texts, always in the built-in codec. */
public final class Headers {
    private static final int MAX_BYTES = 8 << 10;
    private static final JacksonCodec CODEC = new JacksonCodec();

    private Headers() {}

    /** The column's text, or null for no headers. */
    public static @Nullable String write(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        String json;
        try {
            json = CODEC.encode(headers);
        } catch (Exception e) {
            throw new RowlockException("The headers of a job could not be written as JSON: " + headers.keySet(), e);
        }
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw new InvalidUseException("The headers of a job have " + bytes
                    + " bytes as JSON, more than the limit of " + MAX_BYTES + "; put the data into the payload");
        }
        return json;
    }

    /** The headers of a row. What is no JSON object, written by somebody's SQL, counts as none: it is only context. */
    public static Map<String, String> read(@Nullable String json) {
        if (json == null) {
            return Map.of();
        }
        try {
            Map<String, String> headers = new LinkedHashMap<>();
            Map<?, ?> object = CODEC.decode(json, Map.class);
            object.forEach((name, value) -> headers.put(String.valueOf(name), String.valueOf(value)));
            return Collections.unmodifiableMap(headers);
        } catch (Exception unreadable) {
            return Map.of();
        }
    }
}
