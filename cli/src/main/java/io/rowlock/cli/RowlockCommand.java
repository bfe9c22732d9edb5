package io.rowlock.cli;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParseResult;

/** The root of all commands. */
@Command(
        name = "rowlock",
        mixinStandardHelpOptions = true,
        versionProvider = RowlockCommand.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Looks at the tables of Rowlock, and does what a person decides.",
        footerHeading = "%nAt three in the morning:%n",
        footer = {
            "  rowlock checkup                        what is wrong, and what to type",
            "  rowlock alerts list                    what a person is needed for",
            "  rowlock queues list                    what waits where, since when, what is paused",
            "  rowlock jobs find --subject Order:42   what happened to order 42",
            "  rowlock jobs failures 4711             why a job failed, attempt by attempt",
            "  rowlock jobs revive 4711 --why '...'   try a dead job again",
            "  rowlock jobs revive-all --kind mail --state dead --why '...'   the same, for all of a kind",
            "  rowlock sagas find --needs-person      sagas that wait for you",
            "",
            "Where the database is: --url, or PGHOST, PGPORT, PGDATABASE, PGUSER; its password: --password-file,",
            "ROWLOCK_PASSWORD, PGPASSWORD, ~/.pgpass, or --ask-password. Never on the command line, where others see it.",
            "",
            "Exit codes: 0 fine; 1 findings, nothing found, or refused; 2 wrong command line; 3 database."
        },
        subcommands = {
            HelpCommand.class,
            CheckupCommand.class,
            SchemaCommands.class,
            JobCommands.class,
            AlertCommands.class,
            QueueCommands.class,
            ScheduleCommands.class,
            SagaCommands.class
        })
final class RowlockCommand extends Group {
    private final Surroundings surroundings;

    private RowlockCommand(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    Surroundings surroundings() {
        return surroundings;
    }

    /** The whole command line, ready to run. */
    static CommandLine line(Surroundings surroundings) {
        return new CommandLine(new RowlockCommand(surroundings))
                .setExecutionExceptionHandler(RowlockCommand::explain)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setUsageHelpLongOptionsMaxWidth(34);
    }

    /** As the jar's manifest says. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = RowlockCommand.class.getPackage().getImplementationVersion();
            return new String[] {"rowlock " + (version == null ? "(not packaged)" : version)};
        }
    }

    /** In words; a stack trace only where it was asked for. */
    private static int explain(Exception failure, CommandLine line, ParseResult parsed) {
        PrintWriter err = line.getErr();
        err.println(failure instanceof RowlockException ? failure.getMessage() : failure.toString());
        if (line.getCommand() instanceof Action action && action.debug()) {
            failure.printStackTrace(err);
        } else if (!(failure instanceof InvalidUseException)) {
            err.println("(--debug shows where it happened)");
        }
        if (failure instanceof DatabaseException refused && refused.sqlState().startsWith("28")) {
            err.println("The server refuses the login: check user and password.");
        }
        err.flush();
        return failure instanceof InvalidUseException ? ExitCode.USAGE : ExitCode.DATABASE;
    }
}
