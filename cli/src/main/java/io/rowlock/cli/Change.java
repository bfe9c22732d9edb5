package io.rowlock.cli;

import io.rowlock.job.By;
import picocli.CommandLine.Option;

/** A command that changes something, which is kept with who did it and why. */
abstract class Change extends Action {
    @Option(names = "--who", paramLabel = "NAME", description = "Who does it; the operating system's user by default.")
    private String who = "";

    @Option(names = "--why", paramLabel = "REASON", required = true, description = "Why; kept for those who ask later.")
    private String why = "";

    By by() {
        return new By(who.isBlank() ? surroundings().user() : who, why);
    }
}
