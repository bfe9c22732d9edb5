package io.rowlock.hibernate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What an update assigns, read from its text without comments and strings. */
final class SetClause {
    private static final String NAME = "(?:\"[^\"]+\"|[\\w$]+)";
    private static final Pattern BEGIN = Pattern.compile("\\bset\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern END =
            Pattern.compile("\\b(?:where|returning)\\b|(?<!\\bdistinct\\s)\\bfrom\\b|;", Pattern.CASE_INSENSITIVE);
    private static final Pattern ASSIGNMENT = Pattern.compile(
            "\\s*(?:(" + NAME + ")|\\(\\s*(" + NAME + "(?:\\s*,\\s*" + NAME + ")*)\\s*\\))\\s*=.*",
            Pattern.DOTALL | Pattern.UNICODE_CHARACTER_CLASS);

    private SetClause() {}

    /**
     * The columns that get a value, in the form of {@link TouchedTable#normal}.
     *
     * @param rest what follows the table's name
     * @return null where the text is not surely understood
     */
    static @Nullable Set<String> columns(String rest) {
        Matcher begin = BEGIN.matcher(rest);
        if (!begin.find()) {
            return null;
        }
        Set<String> columns = new HashSet<>();
        for (String assignment : assignments(rest.substring(begin.end()))) {
            Matcher found = ASSIGNMENT.matcher(assignment);
            if (!found.matches()) {
                return null;
            }
            String names = found.group(1) == null ? found.group(2) : found.group(1);
            for (String name : names.split(",", -1)) {
                columns.add(TouchedTable.normal(name));
            }
        }
        return columns;
    }

    /** The parts between commas that stand in no brackets, up to the condition or the end of the statement. */
    private static List<String> assignments(String text) {
        List<String> parts = new ArrayList<>();
        Matcher end = END.matcher(text).useTransparentBounds(true);
        int depth = 0;
        int begin = 0;
        int at = 0;
        for (; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                depth--;
            } else if (c == '"') {
                int closing = text.indexOf('"', at + 1);
                at = closing < 0 ? text.length() - 1 : closing;
            } else if (depth == 0 && c == ',') {
                parts.add(text.substring(begin, at));
                begin = at + 1;
            }
            if (depth < 0 || (depth == 0 && end.region(at, text.length()).lookingAt())) {
                break;
            }
        }
        parts.add(text.substring(begin, at));
        return parts;
    }
}
