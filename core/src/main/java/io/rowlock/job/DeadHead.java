package io.rowlock.job;

/** What becomes of the jobs behind a dead one with their ordering key. A setting of a queue. */
public enum DeadHead {
    /** They wait until the dead job is revived or skipped; an alert says so. The default. */
    BLOCK("block"),
    /** They go on as if it had completed. */
    PASS("pass");

    private final String text;

    DeadHead(String text) {
        this.text = text;
    }

    /**
     * How it is written in the table.
     *
     * @return the column's text
     */
    public String text() {
        return text;
    }
}
