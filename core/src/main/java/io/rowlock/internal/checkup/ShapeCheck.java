package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.error.SchemaException;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.CheckedTablesSql.InvalidIndex;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.Names;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Whether columns, indexes, checks and functions are what {@code schema().validate()} wants, and how to get there. */
final class ShapeCheck implements Check {
    private final CheckupSql sql;
    private final Names names;
    private final JdbcSchema schema;

    ShapeCheck(CheckupSql sql, Names names, JdbcSchema schema) {
        this.sql = sql;
        this.names = names;
        this.schema = schema;
    }

    @Override
    public String subject() {
        return "columns and indexes in schema " + names.schema();
    }

    @Override
    public String right() {
        return "GRANT USAGE ON SCHEMA " + names.schema()
                + " TO the role of the workers; and the other grants at the end of" + " schema().script(0)";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        Set<String> invalid = new HashSet<>();
        for (InvalidIndex each : sql.tables().invalidIndexes(connection, JdbcSchema.TABLES)) {
            invalid.add(each.index());
            findings.add(Symptom.INDEX_INVALID.seen(each.seen(), each.cure()));
        }
        List<String> indexes = sql.tables().indexes(connection, JdbcSchema.TABLES);
        for (String problem : problems(connection)) {
            add(problem, invalid, indexes, findings);
        }
        return findings;
    }

    private List<String> problems(Connection connection) throws SQLException {
        try {
            schema.validate(connection);
            return List.of();
        } catch (SchemaException e) {
            return e.problems();
        }
    }

    private void add(String problem, Set<String> invalid, List<String> indexes, List<Finding> findings) {
        if (problem.startsWith(JdbcSchema.DIFFERENT + "index ")) {
            Wanted wanted = Wanted.of(problem.substring((JdbcSchema.DIFFERENT + "index ").length()), names);
            if (!invalid.contains(wanted.name())) {
                findings.add(Symptom.INDEX_MISSING.seen(
                        "Index " + wanted.name() + (indexes.contains(wanted.name()) ? " is not " : " is missing: ")
                                + wanted.definition(),
                        (indexes.contains(wanted.name())
                                        ? "DROP INDEX " + names.schema() + '.' + wanted.name() + "; "
                                        : "")
                                + wanted.create(names)));
            }
        } else if (problem.startsWith("table ") || problem.contains("have version")) {
            findings.add(Symptom.TABLES_MISSING.seen(
                    "In schema " + names.schema() + ": " + problem,
                    "rowlock.schema().install(), or let the owner run schema().script(...) from the version that is there."
                            + " Look first whether schema and prefix are the right ones."));
        } else {
            findings.add(Symptom.TABLES_DIFFER.seen(
                    "In schema " + names.schema() + ": " + problem, "Put it back: " + remedy(problem)));
        }
    }

    private String remedy(String problem) {
        String column = problem.startsWith(JdbcSchema.DIFFERENT + "column ")
                ? problem.substring((JdbcSchema.DIFFERENT + "column ").length())
                : "";
        int dot = column.indexOf('.');
        int space = column.indexOf(' ');
        if (dot < 0 || space < dot) {
            return "schema().script(0) shows how it was made.";
        }
        String type = column.substring(space + 1).replaceAll("( not null| default| identity)+$", "");
        return "ALTER TABLE " + names.table(column.substring(0, dot)) + " ALTER COLUMN "
                + column.substring(dot + 1, space) + " TYPE " + type
                + "; where it is the type, which rewrites the table; schema().script(0) shows how it was made.";
    }

    /** An index as the catalogue's line has it: its name without the prefix, then its definition, then perhaps: unique. */
    private record Wanted(String name, String table, String definition, boolean unique) {
        static Wanted of(String line, Names names) {
            int space = line.indexOf(' ');
            String name = line.substring(0, space);
            String table = JdbcSchema.TABLES.stream()
                    .filter(each -> name.startsWith(each + "_"))
                    .max(Comparator.comparing(String::length))
                    .orElseThrow();
            boolean unique = line.endsWith(" unique");
            return new Wanted(
                    names.prefix() + name,
                    table,
                    line.substring(space + 1, line.length() - (unique ? " unique".length() : 0)),
                    unique);
        }

        String create(Names names) {
            String columns = definition.substring("btree ".length());
            return name.endsWith("_pk")
                    ? "ALTER TABLE " + names.table(table) + " ADD CONSTRAINT " + name + " PRIMARY KEY " + columns + ";"
                    : "CREATE " + (unique ? "UNIQUE " : "") + "INDEX CONCURRENTLY " + name + " ON " + names.table(table)
                            + " USING " + definition + ";";
        }
    }
}
