package io.rowlock.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Help by the words that a command is called by. */
@Command(name = "help", helpCommand = true, description = "Prints the help of a command, as: rowlock help jobs revive.")
final class Help implements Callable<Integer> {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this help.")
    @SuppressWarnings("UnusedVariable") // picocli does what is to be done
    private boolean help;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "Its words; none for all commands.")
    private List<String> words = List.of();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
    private CommandSpec spec;

    @Override
    public Integer call() {
        CommandLine command = spec.root().commandLine();
        for (String word : words) {
            CommandLine next = command.getSubcommands().get(word);
            if (next == null) {
                throw new ParameterException(
                        command,
                        "There is no command " + command.getCommandSpec().qualifiedName() + ' ' + word
                                + (command.getSubcommands().isEmpty()
                                        ? ""
                                        : "; there are "
                                                + String.join(
                                                        ", ",
                                                        command.getSubcommands().keySet())));
            }
            command = next;
        }
        command.usage(spec.root().commandLine().getOut());
        return ExitCode.FINE;
    }
}
