package io.rowlock.cli;

/** How a command ends; part of what scripts rely on. */
final class ExitCode {
    /** Done, and nothing to say against it. */
    static final int FINE = 0;

    /** Findings above a remark, tables that differ, nothing found, or an operation that was refused. */
    static final int REFUSED = 1;

    /** The command line is wrong. */
    static final int USAGE = 2;

    /** The database could not be reached or refused a statement; or something unforeseen. */
    static final int DATABASE = 3;

    private ExitCode() {}
}
