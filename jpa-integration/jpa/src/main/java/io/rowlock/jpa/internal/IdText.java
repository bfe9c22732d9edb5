package io.rowlock.jpa.internal;

import java.util.HexFormat;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Ids as text, the same for equal ids, without a codec. */
public final class IdText {
    private IdText() {}

    /** A simple id: its own text; bytes as hexadecimal digits. */
    public static String of(Object id) {
        return id instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : String.valueOf(id);
    }

    /** A composite id: a JSON object, its attributes in the order of their names. Nested ones are maps. */
    public static String of(Map<String, ? extends @Nullable Object> id) {
        StringJoiner object = new StringJoiner(",", "{", "}");
        new TreeMap<>(id).forEach((name, value) -> object.add(quoted(name) + ":" + json(value)));
        return object.toString();
    }

    private static String json(@Nullable Object value) {
        if (value instanceof Map<?, ?> nested) {
            Map<String, @Nullable Object> named = new TreeMap<>();
            nested.forEach((name, each) -> named.put(String.valueOf(name), each));
            return of(named);
        }
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        return quoted(of(value));
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
