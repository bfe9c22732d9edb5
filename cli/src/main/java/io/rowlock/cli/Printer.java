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
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints for people or for scripts, whichever was asked for. Control characters of what rows say reach no terminal. */
final class Printer {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final PrintWriter out;
    private final boolean json;

    Printer(PrintWriter out, boolean json) {
        this.out = out;
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

    private static String clean(String text) {
        return text.replaceAll("[\\p{Cntrl}\\x{80}-\\x{9f}]", " ");
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
            out.println(JSON.writeValueAsString(node));
            out.flush();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("What was read cannot be written as JSON", e);
        }
    }
}
