package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that changes something, which is kept with who did it and why. */
abstract class Change extends Action {
    @Option(names = "--who", paramLabel = "NAME", description = "Who does it; the operating system's user by default.")
    private String who = "";

    @Option(
            names = "--why",
            paramLabel = "REASON",
            required = true,
            description = "Why, in at most 200 characters; kept for those who ask later.")
    private String why = "";

    @Override
    void check() {
        by();
    }

    By by() {
        return by(surroundings(), who, why);
    }

    static By by(Surroundings around, String who, @Nullable String why) {
        if (why == null || why.isBlank()) {
            throw new InvalidUseException(
                    "Say why, as in --why 'INC-12: mail server is back': it is kept for those who ask"
                            + " later, and must not be blank");
        }
        return new By(who.isBlank() ? around.user() : who, why);
    }
}
