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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Whether columns, indexes, checks and functions are what {@code schema().validate()} wants, and how to get there. */
final class ShapeCheck implements Check {
    private final CheckupSql sql;
    private final Names names;
    private final JdbcSchema schema;
    private final Typed typed;

    ShapeCheck(CheckupSql sql, Names names, JdbcSchema schema) {
        this.sql = sql;
        this.names = names;
        this.schema = schema;
        this.typed = new Typed(names);
    }

    @Override
    public String subject() {
        return "columns and indexes in schema " + names.schema();
    }

    @Override
    public String right() {
        return typed.grants();
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        Set<String> invalid = new HashSet<>();
        for (InvalidIndex each : sql.tables().invalidIndexes(connection, JdbcSchema.TABLES)) {
            invalid.add(each.index());
            findings.add(Symptom.INDEX_INVALID.seen(each.seen(), each.cure()));
        }
        List<String> problems = problems(connection);
        if (!problems.isEmpty()) {
            List<String> indexes = sql.tables().indexes(connection, JdbcSchema.TABLES);
            Mending mending = new Mending(names, schema.blueprint(), schema.found(connection), indexes);
            problems.stream()
                    .filter(each -> !each.startsWith(JdbcSchema.DIFFERENT))
                    .forEach(each -> findings.add(missing(each, mending, indexes)));
            Set<String> gone = gone(problems);
            problems.stream()
                    .filter(each -> each.startsWith(JdbcSchema.DIFFERENT))
                    .map(each -> each.substring(JdbcSchema.DIFFERENT.length()))
                    .filter(line -> gone.stream().noneMatch(table -> of(line, table)))
                    .sorted(Comparator.comparing(ShapeCheck::turn))
                    .forEach(line -> differs(line, mending, invalid, indexes).ifPresent(findings::add));
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

    /** Checks and indexes stand on columns. */
    private static int turn(String line) {
        return List.of("column", "check", "function", "index").indexOf(line.substring(0, line.indexOf(' ')));
    }

    /** The tables that are missing, without their prefix: what else is said of them goes without saying. */
    private Set<String> gone(List<String> problems) {
        return JdbcSchema.TABLES.stream()
                .filter(table -> problems.contains("table " + names.table(table) + " is missing"))
                .collect(Collectors.toSet());
    }

    private static boolean of(String line, String table) {
        String rest = line.substring(line.indexOf(' ') + 1);
        return rest.startsWith(table + '.')
                || JdbcSchema.TABLES.stream()
                        .filter(each -> rest.startsWith(each + '_'))
                        .max(Comparator.comparing(String::length))
                        .filter(table::equals)
                        .isPresent();
    }

    private Finding missing(String problem, Mending mending, List<String> indexes) {
        return Symptom.TABLES_MISSING.seen(
                "In schema " + names.schema() + ": " + problem, cure(problem, mending, indexes));
    }

    private String cure(String problem, Mending mending, List<String> indexes) {
        if (problem.startsWith("schema ")) {
            return install(
                    "makes the schema too, and the tables in it. Look first whether its name is right: is it the application's?");
        }
        boolean versions = problem.startsWith("table " + names.table("schema"));
        if (versions && indexes.isEmpty()) {
            return install("or let the owner run what " + typed.command("schema script")
                    + " prints. Look first whether schema and prefix are the right ones");
        } else if (versions || problem.startsWith("the row of version 1 ")) {
            return mending.versions(indexes.contains(names.prefix() + "schema_pk"), schema.version());
        } else if (problem.startsWith("table ")) {
            return JdbcSchema.TABLES.stream()
                    .filter(table -> problem.equals("table " + names.table(table) + " is missing"))
                    .map(mending::table)
                    .findFirst()
                    .orElseThrow();
        }
        String version = problem.replaceAll("\\D*(\\d+).*", "$1");
        return Integer.parseInt(version) > schema.version()
                ? "Use a newer Rowlock: one of version " + version + " of the tables."
                : install("or let the owner run what " + typed.command("schema script --from=" + version) + " prints");
    }

    private String install(String first) {
        return typed.line("schema install", first);
    }

    private Optional<Finding> differs(String line, Mending mending, Set<String> invalid, List<String> indexes) {
        if (!line.startsWith("index ")) {
            return Optional.of(Symptom.TABLES_DIFFER.seen(
                    "In schema " + names.schema() + ": " + JdbcSchema.DIFFERENT + line, mending.line(line)));
        }
        String rest = line.substring("index ".length());
        String name = mending.indexName(rest);
        return invalid.contains(name)
                ? Optional.empty()
                : Optional.of(Symptom.INDEX_MISSING.seen(
                        "Index " + name + (indexes.contains(name) ? " is not " : " is missing: ")
                                + rest.substring(rest.indexOf(' ') + 1),
                        mending.line(line)));
    }
}
