package io.rowlock.benchmark.run;

/** A contender cannot be measured on this machine; the report names it and says why. */
public final class Skipped extends Exception {
    private static final long serialVersionUID = 1L;

    /** @param reason what is missing, for the reader of the report */
    public Skipped(String reason) {
        super(reason);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
