package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

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
            "  rowlock queues blocked                 what waits behind a dead job",
            "  rowlock leases list --held             who leads, who works on which part",
            "  rowlock operations list --since PT12H  who has done what, and why",
            "",
            "Where the database is: --url, or PGHOST, PGPORT, PGDATABASE, PGUSER; its password: --password-file,",
            "ROWLOCK_PASSWORD, PGPASSWORD, ~/.pgpass, or --ask-password. Never on the command line, where others see it.",
            "",
            "These options stand anywhere, --why and others of a command behind its name.",
            "",
            "Exit codes: 0 fine; 1 findings, open alerts, or refused; 2 wrong command line; 3 database;",
            "4 nothing matched: what was named is not there, or no row is as it was asked for."
        },
        subcommands = {
            Help.class,
            CheckupCommand.class,
            SchemaCommands.class,
            JobCommands.class,
            AlertCommands.class,
            OperationCommands.class,
            QueueCommands.class,
            ScheduleCommands.class,
            SagaCommands.class,
            LeaseCommands.class,
            PartitionCommands.class,
            AnswerCommands.class
        })
final class RowlockCommand extends Group {
    private final Surroundings surroundings;

    @Mixin
    private Target target = new Target();

    @Option(
            names = "--json",
            scope = ScopeType.INHERIT,
            description = "Print JSON for scripts: ids as texts, numbers of payloads digit by digit.")
    private boolean json;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Print a stack trace where something fails.")
    private boolean debug;

    private RowlockCommand(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    Surroundings surroundings() {
        return surroundings;
    }

    Target target() {
        return target;
    }

    boolean json() {
        return json;
    }

    /** The whole command line, ready to run. */
    static CommandLine line(Surroundings surroundings) {
        return new CommandLine(new RowlockCommand(surroundings))
                .setExecutionExceptionHandler(RowlockCommand::explain)
                .setParameterExceptionHandler(RowlockCommand::refuse)
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
        RowlockCommand root = (RowlockCommand) line.getCommandSpec().root().userObject();
        PrintWriter err = line.getErr();
        String message = failure instanceof RowlockException ? failure.getMessage() : failure.toString();
        String.valueOf(message).lines().map(Printer::clean).forEach(err::println);
        Explanation.of(failure, root.target, root.surroundings)
                .map(Printer::clean)
                .ifPresent(err::println);
        if (root.debug) {
            failure.printStackTrace(err);
        } else if (!(failure instanceof InvalidUseException)) {
            err.println("(--debug shows where it happened)");
        }
        err.flush();
        return failure instanceof InvalidUseException ? ExitCode.USAGE : ExitCode.DATABASE;
    }

    /** What is wrong with the command line, and where to read on. */
    private static int refuse(ParameterException failure, String[] args) {
        CommandLine line = failure.getCommandLine();
        PrintWriter err = line.getErr();
        err.println(Printer.clean(String.valueOf(failure.getMessage())));
        UnmatchedArgumentException.printSuggestions(failure, err);
        if (!line.getSubcommands().isEmpty()
                && failure instanceof UnmatchedArgumentException unmatched
                && unmatched.isUnknownOption()) {
            err.println("Options of a command stand behind its name, as in: rowlock jobs find --kind mail");
        }
        err.println("More: " + line.getCommandSpec().qualifiedName() + " --help");
        err.flush();
        return ExitCode.USAGE;
    }
}
