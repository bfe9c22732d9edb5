package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.SchemaException;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Rowlock's tables. */
@Command(
        name = "schema",
        mixinStandardHelpOptions = true,
        description = "Prints, checks and installs Rowlock's tables.",
        subcommands = {SchemaCommands.Script.class, SchemaCommands.Validate.class, SchemaCommands.Install.class})
final class SchemaCommands extends Group {

    /** Needs no database. */
    @Command(
            name = "script",
            description = "Prints the DDL and the grants, for Flyway, Liquibase or a DBA. Needs no database.")
    static final class Script extends Action {
        @Option(names = "--from", paramLabel = "N", description = "The version installed now; 0, for none, by default.")
        private int from;

        @Override
        int run(Rowlock rowlock, Printer out) {
            out.text(rowlock.schema().script(from));
            return ExitCode.FINE;
        }
    }

    /** What a worker asks at its start. */
    @Command(
            name = "validate",
            description = "Names what differs from what this version needs. Ends with 1 if something does.")
    static final class Validate extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            return differences(rowlock, out, typed("schema install"));
        }
    }

    private static int differences(Rowlock rowlock, Printer out, String install) {
        try {
            rowlock.schema().validate();
            out.say("The tables are what version " + rowlock.schema().version() + " needs.");
            if (out.json()) {
                out.list(List.of("problem"), List.of());
            }
            return ExitCode.FINE;
        } catch (SchemaException e) {
            out.list(
                    List.of("problem"),
                    e.problems().stream()
                            .map(each -> Arrays.<Object>asList(each))
                            .toList());
            out.note(install + " makes what is missing; are --schema and --prefix those of the application?");
            return ExitCode.REFUSED;
        }
    }

    /** In one transaction. */
    @Command(
            name = "install",
            description = {
                "Brings the tables to this version: all of it or nothing.",
                "Creates the schema if it is missing, also one whose name was mistyped, and says so. Needs the right to create. Ends",
                "with 1 if the tables differ all the same: it mends none."
            })
    static final class Install extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            boolean created = missing(rowlock);
            rowlock.schema().install();
            if (created) {
                out.note(
                        "The schema was not there: it was created, with the tables in it. If its name was mistyped, drop it.");
            }
            return differences(rowlock, out, typed("schema install"));
        }

        private static boolean missing(Rowlock rowlock) {
            try {
                rowlock.schema().validate();
                return false;
            } catch (SchemaException e) {
                return e.problems().stream().anyMatch(each -> each.startsWith("schema "));
            }
        }
    }
}
