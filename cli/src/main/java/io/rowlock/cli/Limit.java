package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import picocli.CommandLine.Option;

/** How many are listed. */
final class Limit {
    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "At most so many; ${DEFAULT-VALUE} by default.")
    private int most;

    int most() {
        if (most < 1) {
            throw new InvalidUseException("--limit must be at least 1, got " + most);
        }
        return most;
    }

    /** For one more than are listed, so that it is known whether there are more; pages have 1,000 at most. */
    int page(int listed) {
        return Math.min(1_000, most - listed + 1);
    }

    static void more(Printer out) {
        out.note("There are more: raise --limit, or say more of them.");
    }
}
