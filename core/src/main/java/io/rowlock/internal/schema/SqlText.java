package io.rowlock.internal.schema;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/** Takes the text of our own scripts apart: it knows quotes, dollar quotes, comments to the end of a line and brackets. */
public final class SqlText {
    private SqlText() {}

    /** The statements without their semicolons; comments are left out, but those inside of quotes. */
    public static List<String> statements(String script) {
        return split(script, ';');
    }

    /** What stands between commas that are in no bracket. */
    static List<String> items(String list) {
        return split(list, ',');
    }

    /** What stands between the first bracket and the one that closes it. */
    static String inBrackets(String text) {
        int open = text.indexOf('(');
        return text.substring(open + 1, end(text, open, depth -> depth == 0));
    }

    private static List<String> split(String text, char by) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        int depth = 0;
        for (int i = 0; i < text.length(); i++) {
            int after = opaque(text, i);
            char c = text.charAt(i);
            if (after > i) {
                part.append(c == '-' ? "" : text.substring(i, after));
                i = after - 1;
            } else if (c == by && depth == 0) {
                add(parts, part);
            } else {
                depth += step(c);
                part.append(c);
            }
        }
        add(parts, part);
        return parts;
    }

    private static void add(List<String> parts, StringBuilder part) {
        String text = part.toString().strip();
        if (!text.isEmpty()) {
            parts.add(text);
        }
        part.setLength(0);
    }

    private static int end(String text, int from, IntPredicate wanted) {
        int depth = 0;
        for (int i = from; i < text.length(); i++) {
            int after = opaque(text, i);
            if (after > i) {
                i = after - 1;
            } else {
                depth += step(text.charAt(i));
                if (wanted.test(depth)) {
                    return i;
                }
            }
        }
        return text.length();
    }

    private static int step(char c) {
        return c == '(' ? 1 : c == ')' ? -1 : 0;
    }

    /** Behind the comment or the quoted text that begins there; the place itself if none does. */
    private static int opaque(String text, int at) {
        if (text.startsWith("--", at)) {
            int newline = text.indexOf('\n', at);
            return newline < 0 ? text.length() : newline;
        }
        if (text.charAt(at) == '\'') {
            return text.indexOf('\'', at + 1) + 1; // a doubled quote is two texts, side by side
        }
        if (text.startsWith("$rowlock$", at)) {
            return text.indexOf("$rowlock$", at + 1) + "$rowlock$".length();
        }
        return at;
    }
}
