package io.rowlock.cli;

import io.rowlock.Rowlock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that does something with the tables. */
abstract class Action implements Callable<Integer> {
    @Mixin
    private Target target = new Target();

    @Option(names = "--json", description = "Print JSON for scripts: ids as texts, numbers of payloads digit by digit.")
    private boolean json;

    @Option(names = "--debug", description = "Print a stack trace where something fails.")
    private boolean debug;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this help.")
    @SuppressWarnings("UnusedVariable") // picocli does what is to be done
    private boolean help;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
    private CommandSpec spec;

    boolean debug() {
        return debug;
    }

    Surroundings surroundings() {
        return ((RowlockCommand) spec.root().userObject()).surroundings();
    }

    @Override
    public final Integer call() {
        return run(
                target.rowlock(surroundings()), new Printer(spec.commandLine().getOut(), json));
    }

    abstract int run(Rowlock rowlock, Printer out);
}
