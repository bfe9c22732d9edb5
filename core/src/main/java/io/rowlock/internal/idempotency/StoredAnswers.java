package io.rowlock.internal.idempotency;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.spi.PayloadCodec;
import java.nio.charset.StandardCharsets;

/** Answers as JSON. One that could not be read again is refused before it is stored: its repetitions would all fail. */
final class StoredAnswers {
    private final PayloadCodec codec;
    private final int mostBytes;

    StoredAnswers(PayloadCodec codec, int mostBytes) {
        this.codec = codec;
        this.mostBytes = mostBytes;
    }

    <T> String write(T answer, Class<T> type, String what) {
        String json = encode(answer, type, what);
        int bytes = json.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > mostBytes) {
            throw new InvalidUseException(
                    "The answer has " + bytes + " bytes as JSON, more than the limit of " + mostBytes
                            + "; what was written is undone. Store the data in a table of its own and its key in the answer, or"
                            + " raise maxPayloadBytes " + what);
        }
        return json;
    }

    private <T> String encode(T answer, Class<T> type, String what) {
        try {
            String json = codec.encode(answer);
            JacksonCodec.requireOneValue(json);
            codec.decode(json, type);
            return json;
        } catch (Exception | StackOverflowError e) {
            throw new InvalidUseException(
                    "The answer could not be written as JSON and read as " + type.getName()
                            + "; what was written is undone " + what + ": " + e.getMessage(),
                    e);
        }
    }

    <T> T read(String json, Class<T> type, String what) {
        try {
            return codec.decode(json, type);
        } catch (Exception | StackOverflowError e) {
            throw new RowlockException(
                    "The stored answer cannot be read as " + type.getName()
                            + "; the request was done, and is not done again before its key expires " + what + ": "
                            + e.getMessage(),
                    e);
        }
    }
}
