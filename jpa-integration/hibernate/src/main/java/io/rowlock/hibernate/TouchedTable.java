package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table that an SQL text inserts into, updates or deletes from: found by the words of the text, as nobody parses native
 * SQL. What functions, triggers and cascades of the server do is not in the text.
 *
 * @param name in lower case and without quotes, with its schema where the text has that
 * @param changes what is done to its rows
 * @param assignments where rows are updated, the text up to the condition; else empty
 */
record TouchedTable(String name, Set<Change> changes, String assignments) {
    private static final Pattern NO_CODE = Pattern.compile("'[^']*'|--[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);
    private static final Pattern MAY_CHANGE =
            Pattern.compile("\\s*\\(?\\s*(?:with|insert|update|delete|merge)\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern WHERE = Pattern.compile("\\bwhere\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern DO_UPDATE = Pattern.compile("\\bdo\\s+update\\b", Pattern.CASE_INSENSITIVE);
    private static final String NAME = "(?:\"[^\"]+\"|[\\w$]+)";
    private static final Pattern CHANGE = Pattern.compile(
            "\\b(insert\\s+into|update|delete\\s+from|merge\\s+into|truncate(?:\\s+table)?)\\s+(?:only\\s+)?(" + NAME
                    + "(?:\\s*\\.\\s*" + NAME + ")*)",
            Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CHARACTER_CLASS);

    /** Whether what is run as a query may change rows: common table expressions, and changes that return what they did. */
    static boolean mayBeIn(String query) {
        boolean plain = !query.isEmpty() && (query.charAt(0) == 's' || query.charAt(0) == 'S');
        return !plain && MAY_CHANGE.matcher(code(query)).lookingAt();
    }

    /** All of them; empty for a text that changes nothing. */
    static List<TouchedTable> in(String sql) {
        String code = code(sql);
        List<TouchedTable> tables = new ArrayList<>();
        Matcher found = CHANGE.matcher(code);
        while (found.find()) {
            String rest = code.substring(found.end());
            Set<Change> changes = changes(found.group(1).toLowerCase(Locale.ROOT), rest);
            Matcher where = WHERE.matcher(rest);
            String assignments = changes.contains(Change.UPDATE)
                    ? rest.substring(0, where.find() ? where.start() : rest.length())
                    : "";
            tables.add(new TouchedTable(normal(found.group(2)), changes, assignments));
        }
        return tables;
    }

    private static Set<Change> changes(String verb, String rest) {
        if (verb.startsWith("insert")) {
            return DO_UPDATE.matcher(rest).find()
                    ? Set.of(Change.PERSIST, Change.UPDATE)
                    : Collections.singleton(Change.PERSIST);
        }
        if (verb.startsWith("merge")) {
            return Set.of(Change.values());
        }
        return Collections.singleton(verb.equals("update") ? Change.UPDATE : Change.REMOVE);
    }

    private static String code(String sql) {
        return NO_CODE.matcher(sql).replaceAll(" ");
    }

    /** A table's name as texts are compared by: two that differ in case alone count as one. */
    static String normal(String name) {
        return name.replaceAll("[\"\\s]", "").toLowerCase(Locale.ROOT);
    }

    /** Whether it is a table: the schema counts where both have one. */
    boolean is(String table) {
        return name.equals(table) || name.endsWith("." + table) || table.endsWith("." + name);
    }

    /** Whether a column is given a value. */
    boolean assigns(String column) {
        return Pattern.compile("\\b" + Pattern.quote(normal(column)) + "\"?\\s*=")
                .matcher(assignments.toLowerCase(Locale.ROOT))
                .find();
    }
}
