package io.rowlock.cli;

/** How a command ends; part of what scripts rely on. */
final class ExitCode {
    /** Done, and nothing to say against it. */
    static final int FINE = 0;

    /** Findings above a remark, open alerts, tables that differ, or an operation that was refused. */
    static final int REFUSED = 1;

    /** The command line is wrong; nothing was sent to the database. */
    static final int USAGE = 2;

    /** The database could not be reached or refused a statement; or something unforeseen. */
    static final int DATABASE = 3;

    /** Nothing matched: what was named is not there, or no row is as it was asked for. */
    static final int NOTHING = 4;

    private ExitCode() {}
}
