package io.rowlock.internal.schema;

import io.rowlock.internal.sql.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the numbered scripts make each table, column, check and function, as statements that put one of them back alone, with the
 * configured names.
 */
public final class Blueprint {
    private static final Pattern CREATE_TABLE = Pattern.compile("CREATE TABLE rowlock_(\\w+) .*", Pattern.DOTALL);
    private static final Pattern ALTER_TABLE = Pattern.compile("ALTER TABLE rowlock_(\\w+)\\s+(.*)", Pattern.DOTALL);
    private static final Pattern ABOUT_TABLE = Pattern.compile(
            "(?:CREATE TABLE|ALTER TABLE|CREATE (?:UNIQUE )?INDEX \\w+ ON|COMMENT ON TABLE|COMMENT ON COLUMN) rowlock_(\\w+)\\b.*",
            Pattern.DOTALL);
    private static final Pattern FUNCTION =
            Pattern.compile("CREATE OR REPLACE FUNCTION rowlock_(\\w+)\\(.*", Pattern.DOTALL);
    private static final Pattern CONSTRAINT =
            Pattern.compile("(?:ADD )?CONSTRAINT rowlock_(\\w+)\\s+CHECK .*", Pattern.DOTALL);
    private static final Pattern DEFAULT = Pattern.compile("ALTER COLUMN (\\w+) SET DEFAULT (.*)", Pattern.DOTALL);
    private static final String ADD_COLUMN = "ADD COLUMN ";

    private final Names names;
    private final Map<String, List<String>> tables = new LinkedHashMap<>();
    private final Map<String, Column> columns = new LinkedHashMap<>();
    private final Map<String, String> checks = new LinkedHashMap<>();
    private final Map<String, String> functions = new LinkedHashMap<>();

    /** A column: how it is added, and the default that it has from then on. */
    private record Column(String definition, String value) {}

    /** Reads scripts, the oldest first. */
    Blueprint(Names names, List<String> scripts) {
        this.names = names;
        scripts.stream().flatMap(each -> SqlText.statements(each).stream()).forEach(this::read);
    }

    private void read(String statement) {
        Matcher about = ABOUT_TABLE.matcher(statement);
        if (about.matches()) {
            tables.computeIfAbsent(about.group(1), table -> new ArrayList<>()).add(statement + ';');
        }
        Matcher made = CREATE_TABLE.matcher(statement);
        Matcher altered = ALTER_TABLE.matcher(statement);
        Matcher function = FUNCTION.matcher(statement);
        if (made.matches()) {
            SqlText.items(SqlText.inBrackets(statement)).forEach(item -> item(made.group(1), item));
        } else if (altered.matches()) {
            SqlText.items(altered.group(2)).forEach(item -> item(altered.group(1), item));
        } else if (function.matches()) {
            functions.put(function.group(1), statement + ';');
        }
    }

    private void item(String table, String item) {
        Matcher check = CONSTRAINT.matcher(item);
        Matcher value = DEFAULT.matcher(item);
        if (check.matches()) {
            String constraint = item.startsWith("ADD ") ? item.substring("ADD ".length()) : item;
            checks.put(check.group(1), "ALTER TABLE rowlock_" + table + " ADD " + constraint + ';');
        } else if (value.matches()) {
            columns.computeIfPresent(
                    table + '.' + value.group(1), (name, column) -> new Column(column.definition(), value.group(2)));
        } else if (!item.startsWith("CONSTRAINT ")) {
            String column = item.startsWith(ADD_COLUMN) ? item.substring(ADD_COLUMN.length()) : item;
            int space = column.indexOf(' ');
            String definition = column.substring(space)
                    .strip()
                    .replaceAll("\\s+", " ")
                    .replaceAll(" CONSTRAINT \\w+ PRIMARY KEY", "");
            int at = definition.indexOf("DEFAULT ");
            columns.put(
                    table + '.' + column.substring(0, space),
                    new Column(definition, at < 0 ? "" : definition.substring(at + "DEFAULT ".length())));
        }
    }

    /** All that makes a table that is not there, with its indexes; one statement a line or more. */
    public String table(String table) {
        return names.apply(String.join("\n", tables.getOrDefault(table, List.of())));
    }

    /** Adds a column that is not there; rows get its default. */
    public String column(String table, String column) {
        Column made = columns.get(table + '.' + column);
        if (made == null) {
            throw new IllegalArgumentException("No script makes " + table + '.' + column);
        }
        String add = "ALTER TABLE rowlock_" + table + " ADD COLUMN " + column + ' ' + made.definition() + ';';
        boolean later = !made.value().isEmpty() && !made.definition().endsWith("DEFAULT " + made.value());
        return names.apply(
                later
                        ? add + " ALTER TABLE rowlock_" + table + " ALTER COLUMN " + column + " SET DEFAULT "
                                + made.value() + ';'
                        : add);
    }

    /** The default of a column; empty for none. */
    public String value(String table, String column) {
        Column made = columns.get(table + '.' + column);
        return made == null ? "" : made.value();
    }

    /** Adds a check that is not there. */
    public String check(String check) {
        return names.apply(checks.getOrDefault(check, ""));
    }

    /** Makes a function, or replaces its body. */
    public String function(String function) {
        return names.apply(functions.getOrDefault(function, ""));
    }
}
