package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A table that an SQL text inserts into, updates or deletes from: found by the words of the text, as nobody parses native
 * SQL. What functions, triggers and cascades of the server do is not in the text.
 *
 * @param name in lower case and without quotes, with its schema where the text has that
 * @param changes what is done to its rows
 * @param columns where rows are updated, the columns that get a value, in the same form; null where that is not known
 * @param cascades whether tables that refer to it are emptied with it
 */
record TouchedTable(
        String name, Set<Change> changes, @Nullable Set<String> columns, boolean cascades) {
    private static final Pattern MAY_CHANGE =
            Pattern.compile("\\s*\\(?\\s*(?:with|insert|update|delete|merge)\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern DO_UPDATE = Pattern.compile("\\bdo\\s+update\\b", Pattern.CASE_INSENSITIVE);
    private static final String PART = "(?:\"[^\"]+\"|[\\w$]+)";
    private static final String NAME = "(?:only(?:\\s+|\\s*\\(\\s*))?(" + PART + "(?:\\s*\\.\\s*" + PART + ")*)";
    private static final int FLAGS = Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CHARACTER_CLASS;
    private static final Pattern CHANGE = Pattern.compile(
            "\\b(insert\\s+into|update|delete\\s+from|merge\\s+into|truncate(?:\\s+table)?)\\s+" + NAME, FLAGS);
    private static final Pattern FURTHER = Pattern.compile("\\s*\\*?\\s*,\\s*" + NAME, FLAGS);
    private static final Pattern CASCADE = Pattern.compile("[^;]*\\bcascade\\b", Pattern.CASE_INSENSITIVE);

    /** Whether what is run as a query may change rows: common table expressions, and changes that return what they did. */
    static boolean mayBeIn(String query) {
        boolean plain = !query.isEmpty() && (query.charAt(0) == 's' || query.charAt(0) == 'S');
        return !plain && MAY_CHANGE.matcher(SqlCode.of(query)).lookingAt();
    }

    /** All of them; empty for a text that changes nothing. */
    static List<TouchedTable> in(String sql) {
        String code = SqlCode.of(sql);
        List<TouchedTable> tables = new ArrayList<>();
        Matcher found = CHANGE.matcher(code);
        while (found.find()) {
            String verb = found.group(1).toLowerCase(Locale.ROOT);
            String rest = code.substring(found.end());
            if (verb.startsWith("truncate")) {
                addTruncated(found.group(2), rest, tables);
                continue;
            }
            Set<Change> changes = changes(verb, rest);
            boolean branches = verb.startsWith("merge"); // each may have assignments of its own
            Set<String> columns = branches || !changes.contains(Change.UPDATE) ? null : SetClause.columns(rest);
            tables.add(new TouchedTable(normal(found.group(2)), changes, columns, false));
        }
        return tables;
    }

    private static void addTruncated(String first, String rest, List<TouchedTable> tables) {
        Matcher further = FURTHER.matcher(rest);
        List<String> names = new ArrayList<>(List.of(first));
        int end = 0;
        while (further.region(end, rest.length()).lookingAt()) {
            names.add(further.group(1));
            end = further.end();
        }
        boolean cascades = CASCADE.matcher(rest).region(end, rest.length()).lookingAt();
        names.forEach(name -> tables.add(emptied(normal(name), cascades)));
    }

    /** A table whose rows are all removed. */
    static TouchedTable emptied(String name, boolean cascades) {
        return new TouchedTable(name, Collections.singleton(Change.REMOVE), null, cascades);
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

    /** A table's name as texts are compared by: two that differ in case alone count as one. */
    static String normal(String name) {
        return name.replaceAll("[\"\\s]", "").toLowerCase(Locale.ROOT);
    }

    /** Whether it is a table: the schema counts where both have one. */
    boolean is(String table) {
        return name.equals(table) || name.endsWith("." + table) || table.endsWith("." + name);
    }

    /** Whether a column is known to get a value. */
    boolean assigns(String column) {
        return columns != null && columns.contains(normal(column));
    }
}
