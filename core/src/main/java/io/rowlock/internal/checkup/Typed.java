package io.rowlock.internal.checkup;

import io.rowlock.internal.sql.Names;

/**
 * What is typed at a terminal: commands that stand as they are, one a line; lines that begin with # say what to know first. They
 * say which tables are meant; where the database is and as whom says who asked for the checkup.
 */
final class Typed {
    private static final String USUAL_SCHEMA = "public";
    private static final String USUAL_PREFIX = "rowlock_";

    private final String begin;

    Typed(Names names) {
        this.begin = "rowlock "
                + (names.schema().equals(USUAL_SCHEMA) ? "" : "--schema " + word(names.schema()) + ' ')
                + (names.prefix().equals(USUAL_PREFIX) ? "" : "--prefix " + names.prefix() + ' ');
    }

    /** One of the command line. */
    String command(String rest) {
        return begin + rest;
    }

    /** A command, and on a line of its own what is to be read before it is typed: not every shell takes a comment behind it. */
    String line(String rest, String first) {
        return command(rest) + "\n# " + first;
    }

    /** For a check that a worker's rights are enough for. */
    String grants() {
        return "As owner: the grants at the end of what " + command("schema script")
                + " prints, for the role of the workers.";
    }

    /** A text that names the script, said for these tables. */
    String named(String text) {
        return text.replace("rowlock schema script", command("schema script"));
    }

    /** As one word of a shell. */
    static String word(String word) {
        return word.matches("[\\w.:/@-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
