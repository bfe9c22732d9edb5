package io.rowlock.internal.outbox;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.rowlock.spi.PayloadCodec;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The built-in codec. Its mapper is private and fixed, so that no application setting changes what rows mean: ISO-8601
 * times, exact numbers, unknown properties ignored, no default typing, no class name from a row (promise P13).
 */
public final class JacksonCodec implements PayloadCodec {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .addModule(new Jdk8Module())
            .addModule(new SimpleModule("rowlock").setSerializerModifier(new EmptyBeans()))
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
            .disable(
                    DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                    DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .deactivateDefaultTyping()
            .build();

    /* Where a text is read only to see whether it is JSON; the nesting stays bounded, as the server's is. */
    private static final JsonFactory ANY_LENGTH = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    @Override
    public String encode(Object payload) throws JsonProcessingException {
        String json = MAPPER.writeValueAsString(payload);
        String escaped = escapeLoneSurrogates(json);
        if (!escaped.equals(json)) {
            MAPPER.readTree(escaped); // Jackson reads half a pair in a text, but not in the name of a property
        }
        return escaped;
    }

    @Override
    public <T> T decode(String json, Class<T> type) throws JsonProcessingException {
        T payload = MAPPER.readValue(json, type);
        if (payload == null) {
            throw new IllegalArgumentException("The payload is the JSON literal null");
        }
        return payload;
    }

    /**
     * Throws where a text is not exactly one JSON value: a codec of the user's, or a raw value in a payload, may have
     * written anything, and the server's error would fail the caller's transaction (promise P15).
     */
    public static void requireOneValue(@Nullable String json) throws IOException {
        if (json == null) {
            throw new IOException("the codec gave null");
        }
        try (JsonParser parser = ANY_LENGTH.createParser(json)) {
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

    /**
     * Jackson escapes NUL itself but writes half a surrogate pair as it is, which no UTF-8 connection can carry. Such a
     * character stands only inside JSON strings, so an escape may always take its place.
     */
    static String escapeLoneSurrogates(String json) {
        StringBuilder escaped = null;
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            boolean pair = Character.isHighSurrogate(c)
                    && i + 1 < json.length()
                    && Character.isLowSurrogate(json.charAt(i + 1));
            if (Character.isSurrogate(c) && !pair) {
                if (escaped == null) {
                    escaped = new StringBuilder(json.length() + 16).append(json, 0, i);
                }
                escaped.append(String.format("\\u%04x", (int) c));
            } else if (escaped != null) {
                escaped.append(c);
            }
            if (pair) {
                i++;
                if (escaped != null) {
                    escaped.append(json.charAt(i));
                }
            }
        }
        return escaped == null ? json : escaped.toString();
    }
}
