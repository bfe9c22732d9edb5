package io.rowlock.internal.outbox;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;

/**
 * Whether a text is JSON, asked before any SQL: a codec of the user's, a raw value in a payload, may have written
 * anything, and the server's error would fail the caller's transaction (promise P15).
 */
final class JsonText {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private JsonText() {}

    /** Throws where the text is not exactly one JSON value. */
    static void requireOneValue(String json) throws IOException {
        if (json == null) {
            throw new IOException("the codec gave null");
        }
        try (JsonParser parser = FACTORY.createParser(json)) {
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw new IOException("the codec gave an empty text");
            }
            parser.skipChildren();
            parser.finishToken();
            if (parser.nextToken() != null) {
                throw new IOException("the codec gave more than one JSON value");
            }
        }
    }
}
