package io.rowlock.alert;

import java.util.Locale;

/** Alerts as texts for others. */
final class AlertTexts {
    private AlertTexts() {}

    /** One line, without control characters: rows hold what somebody's SQL wrote, and lines of logs and mails end at them. */
    static String line(String text) {
        return text.codePoints()
                .map(point -> Character.isISOControl(point) ? ' ' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** A JSON object. */
    static String json(Alert alert) {
        StringBuilder json = new StringBuilder("{\"id\":").append(alert.id());
        member(json, "cause", alert.cause());
        member(json, "kind", alert.kind());
        json.append(",\"count\":").append(alert.count());
        member(json, "reason", alert.reason());
        json.append(",\"job\":").append(alert.job());
        member(json, "first", alert.span().first().toString());
        member(json, "last", alert.span().last().toString());
        return json.append('}').toString();
    }

    private static void member(StringBuilder json, String name, String value) {
        json.append(",\"").append(name).append("\":\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
