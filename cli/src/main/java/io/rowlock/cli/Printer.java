package io.rowlock.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Prints for people or for scripts, whichever was asked for. Characters of what rows say that would steer a terminal, or turn or
 * hide what stands there, reach none: people see spaces, scripts read escapes.
 */
final class Printer {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /* Control characters, and with them DEL and C1; formats, as marks that turn the direction or have no width; line separators. */
    private static final Pattern UNSEEN = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    /* Those of them that JSON may have in its texts as they are, and has nowhere else. */
    private static final Pattern UNSEEN_IN_JSON = Pattern.compile("[\\x{7f}-\\x{9f}\\p{Cf}\\p{Zl}\\p{Zp}]");

    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean json;

    Printer(PrintWriter out, PrintWriter err, boolean json) {
        this.out = out;
        this.err = err;
        this.json = json;
    }

    /** JSON text as it stands in a row. */
    record Raw(String text) {
        @Override
        public String toString() {
            return text;
        }
    }

    boolean json() {
        return json;
    }

    /** A line for people; nothing for scripts. */
    void say(String line) {
        if (!json) {
            out.println(clean(line));
        }
    }

    /** A line beside what was asked for. */
    void note(String line) {
        err.println(clean(line));
        err.flush();
    }

    /** One thing that is not there: an object that says so. */
    int missing(String what, String id) {
        if (json) {
            Map<String, @Nullable Object> answer = new LinkedHashMap<>();
            answer.put("id", id);
            answer.put("answer", "unknown");
            sheet(answer);
        } else {
            out.println("There is no " + what + ' ' + clean(id) + " (any more).");
            out.flush();
        }
        return ExitCode.NOTHING;
    }

    /** Text that is neither. */
    void text(String text) {
        out.print(text);
        out.flush();
    }

    /** Rows under a head. */
    void list(List<String> head, List<List<@Nullable Object>> rows) {
        if (json) {
            ArrayNode array = JSON.createArrayNode();
            for (List<@Nullable Object> row : rows) {
                ObjectNode object = array.addObject();
                for (int i = 0; i < head.size(); i++) {
                    put(object, head.get(i), row.get(i));
                }
            }
            write(array);
            return;
        }
        if (rows.isEmpty()) {
            out.println("nothing");
            out.flush();
            return;
        }
        List<List<String>> lines = new ArrayList<>();
        lines.add(head);
        rows.forEach(row -> lines.add(row.stream().map(Printer::shown).toList()));
        table(lines);
    }

    /** One thing with its parts. */
    void sheet(Map<String, @Nullable Object> parts) {
        if (json) {
            ObjectNode object = JSON.createObjectNode();
            parts.forEach((name, value) -> put(object, name, value));
            write(object);
            return;
        }
        List<List<String>> lines = new ArrayList<>();
        parts.forEach((name, value) -> lines.add(List.of(name, shown(value))));
        table(lines);
    }

    private void table(List<List<String>> lines) {
        int[] widths = new int[lines.get(0).size()];
        lines.forEach(line -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        });
        for (List<String> line : lines) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                char[] room = new char[widths[i] - line.get(i).length() + 2];
                Arrays.fill(room, ' ');
                text.append(line.get(i)).append(room);
            }
            out.println(text.toString().stripTrailing());
        }
        out.flush();
    }

    private static String shown(@Nullable Object value) {
        return value == null ? "-" : clean(value.toString());
    }

    static String clean(String text) {
        return UNSEEN.matcher(text).replaceAll(" ");
    }

    private static String escaped(String json) {
        return UNSEEN_IN_JSON.matcher(json).replaceAll(match -> {
            StringBuilder escapes = new StringBuilder();
            match.group().chars().forEach(unit -> escapes.append(String.format("\\\\u%04x", unit)));
            return escapes.toString();
        });
    }

    /** Longs are ids or counts that a reader of doubles would round: texts. */
    private static void put(ObjectNode object, String name, @Nullable Object value) {
        if (value instanceof Integer number) {
            object.put(name, number);
        } else if (value instanceof Boolean truth) {
            object.put(name, truth);
        } else if (value instanceof Raw raw) {
            object.putRawValue(name, new RawValue(raw.text()));
        } else if (value instanceof List<?> list) {
            ArrayNode array = object.putArray(name);
            list.forEach(each -> array.add(String.valueOf(each)));
        } else {
            object.put(name, value == null ? null : value.toString());
        }
    }

    private void write(Object node) {
        try {
            out.println(escaped(JSON.writeValueAsString(node)));
            out.flush();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("What was read cannot be written as JSON", e);
        }
    }
}
