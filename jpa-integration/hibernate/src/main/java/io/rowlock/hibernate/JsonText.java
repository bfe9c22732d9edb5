package io.rowlock.hibernate;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads JSON such that what says the same is equal: objects as maps, arrays as lists, numbers exactly and whatever their
 * scale. A mapper reads numbers as doubles, which are not exact.
 */
final class JsonText {
    private static final Pattern TOKEN = Pattern.compile("\\s*+([{}\\[\\]:,]|\"|[-+.\\w]++)");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))", Pattern.DOTALL);
    private static final Map<String, String> ESCAPED = Map.of("b", "\b", "f", "\f", "n", "\n", "r", "\r", "t", "\t");

    private record Word(String name) {}

    private final String json;
    private final Matcher tokens;
    private String token = "";

    private JsonText(String json) {
        this.json = json;
        this.tokens = TOKEN.matcher(json);
    }

    /** What the text says; the text itself where it is no JSON. */
    static Object read(String json) {
        try {
            JsonText text = new JsonText(json);
            text.next();
            Object value = text.value();
            return text.isAtEnd() ? value : json;
        } catch (IllegalArgumentException | ArithmeticException | StackOverflowError noJson) {
            return json;
        }
    }

    /** Goes to the next token, which is empty at the end, or where there is none that JSON has. */
    private void next() {
        boolean found = tokens.lookingAt();
        token = found ? tokens.group(1) : "";
        if (found) {
            int end = token.equals("\"") ? endOfText(tokens.end()) : tokens.end();
            token = json.substring(tokens.start(1), end);
            tokens.region(end, json.length());
        }
    }

    private int endOfText(int begin) {
        int end = begin;
        while (end < json.length() && json.charAt(end) != '"') {
            end += json.charAt(end) == '\\' ? 2 : 1;
        }
        require(end < json.length());
        return end + 1;
    }

    private boolean isAtEnd() {
        return token.isEmpty() && json.substring(tokens.regionStart()).isBlank();
    }

    /** Reads a value, and goes behind it. */
    private Object value() {
        String first = token;
        next();
        if (first.equals("{")) {
            return object();
        } else if (first.equals("[")) {
            return array();
        } else if (first.startsWith("\"")) {
            return text(first);
        } else if (first.equals("true") || first.equals("false") || first.equals("null")) {
            return new Word(first);
        }
        return new BigDecimal(first).stripTrailingZeros();
    }

    private Map<String, Object> object() {
        Map<String, Object> attributes = new HashMap<>();
        while (!skipped("}")) {
            require(attributes.isEmpty() || skipped(","));
            require(token.startsWith("\""));
            String name = text(token);
            next();
            require(skipped(":"));
            attributes.put(name, value());
        }
        return attributes;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        while (!skipped("]")) {
            require(elements.isEmpty() || skipped(","));
            elements.add(value());
        }
        return elements;
    }

    private boolean skipped(String sign) {
        boolean is = token.equals(sign);
        if (is) {
            next();
        }
        return is;
    }

    private static void require(boolean json) {
        if (!json) {
            throw new IllegalArgumentException("No JSON");
        }
    }

    private static String text(String quoted) {
        return ESCAPE.matcher(quoted.substring(1, quoted.length() - 1)).replaceAll(escape -> {
            String code = escape.group(1);
            String plain = code == null
                    ? ESCAPED.getOrDefault(escape.group(2), escape.group(2))
                    : String.valueOf((char) Integer.parseInt(code, 16));
            return Matcher.quoteReplacement(plain);
        });
    }
}
