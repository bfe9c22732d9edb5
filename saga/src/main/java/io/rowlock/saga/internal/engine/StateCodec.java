package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.spi.PayloadCodec;
import java.nio.charset.StandardCharsets;

/** States as JSON, of bounded size (promise P14). */
public final class StateCodec {
    private final PayloadCodec codec;
    private final int mostBytes;

    public StateCodec(PayloadCodec codec, int mostBytes) {
        this.codec = codec;
        this.mostBytes = mostBytes;
    }

    /** Writes a state, or what a signal carries. */
    public String write(Object state, String what) {
        String json;
        try {
            json = codec.encode(state);
        } catch (Exception e) {
            throw new InvalidUseException(what + " cannot be written as JSON: " + e.getMessage(), e);
        }
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > mostBytes) {
            throw new InvalidUseException(what + " has " + bytes + " bytes as JSON, at most " + mostBytes
                    + " are allowed: keep in it the keys of what is large, or raise maxPayloadBytes");
        }
        return json;
    }

    /** Reads one back. */
    public <T> T read(String json, Class<T> type) throws Exception {
        T value = codec.decode(json, type);
        if (value == null) {
            throw new InvalidUseException("The state was read back as null (type=" + type.getName() + ")");
        }
        return value;
    }
}
