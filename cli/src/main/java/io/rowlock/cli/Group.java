package io.rowlock.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that only groups others: alone it is a wrong command line. */
abstract class Group implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(),
                "Say what is to be done: one of "
                        + String.join(", ", spec.subcommands().keySet()));
    }
}
