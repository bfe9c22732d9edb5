package io.rowlock.internal.checkup;

import io.rowlock.internal.schema.Blueprint;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.RemedySql;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What to type where a line of the catalogue is missing or another: statements as the script of that version has them, which
 * run as they stand and in the order of the findings (columns, then checks, functions, indexes).
 */
final class Mending {
    private final Names names;
    private final Typed typed;
    private final Blueprint blueprint;
    private final List<String> found;
    private final List<String> indexes;

    /** Beside what was found: lines of the catalogue, and names of indexes. */
    Mending(Names names, Blueprint blueprint, List<String> found, List<String> indexes) {
        this.names = names;
        this.typed = new Typed(names);
        this.blueprint = blueprint;
        this.found = found;
        this.indexes = indexes;
    }

    /** For a table that is not there, beside others that are. */
    String table(String table) {
        return blueprint.table(table)
                + "\n-- its rows are gone: put them back from a backup. Grants are at the end of: "
                + typed.command("schema script");
    }

    /** For the table of versions, or its rows, while the others are there. */
    String versions(boolean there, int version) {
        return (there ? "" : blueprint.table("schema") + '\n')
                + RemedySql.versions(names, version)
                + " -- only where no backup has its rows: that of version 1 holds the installation's name, with which"
                + " every idempotency key begins. Run the checkup again";
    }

    /** For a line of the catalogue. */
    String line(String line) {
        String rest = line.substring(line.indexOf(' ') + 1);
        if (line.startsWith("column ")) {
            return column(rest);
        } else if (line.startsWith("check ")) {
            return blueprint.check(rest);
        } else if (line.startsWith("index ")) {
            return index(rest);
        }
        return function(rest);
    }

    private String column(String wanted) {
        int dot = wanted.indexOf('.');
        int space = wanted.indexOf(' ');
        String table = wanted.substring(0, dot);
        String column = wanted.substring(dot + 1, space);
        String begin = "column " + wanted.substring(0, space + 1);
        return found.stream()
                .filter(each -> each.startsWith(begin))
                .findFirst()
                .map(is -> altered(table, column, is.substring(begin.length()), wanted.substring(space + 1)))
                .orElseGet(() -> blueprint.column(table, column)
                        + " -- what stood in it is gone: put it back from a backup; without a default it is refused while"
                        + " there are rows");
    }

    private String altered(String table, String column, String is, String wanted) {
        String named = names.table(table);
        String type = type(wanted);
        List<String> changes = new ArrayList<>();
        boolean value = lost(is, wanted, " default");
        boolean identity = lost(is, wanted, " identity");
        if (lost(wanted, is, " default")) {
            changes.add("DROP DEFAULT");
        } else if (lost(wanted, is, " identity")) {
            changes.add("DROP IDENTITY");
        }
        if (!type.equals(type(is))) {
            changes.add("TYPE " + type + " USING " + column + "::" + type);
        }
        if (lost(is, wanted, " not null")) {
            changes.add("SET NOT NULL");
        } else if (lost(wanted, is, " not null")) {
            changes.add("DROP NOT NULL");
        }
        if (value) {
            changes.add("SET DEFAULT " + blueprint.value(table, column));
        }
        StringBuilder remedy = new StringBuilder();
        changes.forEach(change -> remedy.append(
                String.format(Locale.ROOT, "ALTER TABLE %s ALTER COLUMN %s %s; ", named, column, change)));
        if (identity) {
            remedy.append(RemedySql.identity(named, column));
        }
        return remedy.toString().strip();
    }

    /** Whether one line has a word that the other has not. */
    private static boolean lost(String is, String wanted, String word) {
        return wanted.contains(word) && !is.contains(word);
    }

    private static String type(String line) {
        return line.replaceAll("( not null| default| identity)+$", "");
    }

    /** Arguments and result in a function's place cannot be changed: it is dropped first where it has others. */
    private String function(String wanted) {
        String name = wanted.substring(0, wanted.indexOf('('));
        StringBuilder remedy = new StringBuilder();
        found.stream()
                .filter(each -> each.startsWith("function " + name + "("))
                .forEach(each -> remedy.append("DROP FUNCTION ")
                        .append(names.table(each.substring("function ".length(), each.lastIndexOf(") ") + 1)))
                        .append(";\n"));
        return remedy.append(blueprint.function(name)).toString();
    }

    /** A line is: the name without the prefix, then the definition, then perhaps: unique. */
    private String index(String line) {
        int space = line.indexOf(' ');
        boolean unique = line.endsWith(" unique");
        String definition = line.substring(space + 1, line.length() - (unique ? " unique".length() : 0));
        String suffix = line.substring(0, space);
        String name = names.prefix() + suffix;
        String table = names.table(JdbcSchema.TABLES.stream()
                .filter(each -> suffix.startsWith(each + "_"))
                .max(Comparator.comparing(String::length))
                .orElseThrow());
        boolean there = indexes.contains(name);
        if (suffix.endsWith("_pk")) {
            return (there ? "ALTER TABLE " + table + " DROP CONSTRAINT IF EXISTS " + name + "; " + drop(name) : "")
                    + "ALTER TABLE " + table + " ADD CONSTRAINT " + name + " PRIMARY KEY "
                    + definition.substring("btree ".length()) + ";";
        }
        return (there
                        ? (suffix.equals("alert_once")
                                        ? "ALTER TABLE " + table + " DROP CONSTRAINT IF EXISTS " + name + "; "
                                        : "")
                                + drop(name)
                        : "")
                + "CREATE " + (unique ? "UNIQUE " : "") + "INDEX CONCURRENTLY " + name + " ON " + table + " USING "
                + definition + ";";
    }

    private String drop(String index) {
        return "DROP INDEX IF EXISTS "
                + names.table(index.substring(names.prefix().length())) + "; ";
    }

    /** The name of an index as the catalogue's line has it, with the prefix. */
    String indexName(String line) {
        return names.prefix() + line.substring(0, line.indexOf(' '));
    }
}
