package io.rowlock.schedule;

/** What becomes of instants at which no worker ran, or none could fire. Those of a pause are left out, whatever this says. */
public enum Misfire {
    /** One job, for the last of them. The default. */
    ONCE("once"),
    /** A job for each of them, oldest first, at most 1,000 (or 8 MiB of payloads) in one transaction. */
    ALL("all"),
    /** No job for what is more than a minute late; of several within that minute, one for the last. */
    NONE("none");

    private final String text;

    Misfire(String text) {
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
