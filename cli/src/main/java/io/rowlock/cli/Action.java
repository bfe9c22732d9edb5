package io.rowlock.cli;

import io.rowlock.Rowlock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that does something with the tables. */
abstract class Action implements Callable<Integer> {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this help.")
    @SuppressWarnings("UnusedVariable") // picocli does what is to be done
    private boolean help;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
    private CommandSpec spec;

    private RowlockCommand root() {
        return (RowlockCommand) spec.root().userObject();
    }

    Surroundings surroundings() {
        return root().surroundings();
    }

    /** A command as it is to be typed for the same tables. */
    String typed(String command) {
        return root().target().typed(command);
    }

    /** A text whose commands say where the database is, as this command line does. */
    String placed(String text) {
        return root().target().placed(text);
    }

    /** What says where the database is. */
    String whence() {
        return root().target().whence(surroundings());
    }

    @Override
    public final Integer call() {
        check();
        Printer out =
                new Printer(spec.commandLine().getOut(), spec.commandLine().getErr(), root().json());
        return run(root().target().rowlock(surroundings()), out);
    }

    /** Refuses what can be refused before anything is asked of the database. */
    void check() {}

    abstract int run(Rowlock rowlock, Printer out);
}
