package io.rowlock.saga;

/** How a step of a saga stands. Its name in lower case is what its row says. */
public enum StepStatus {
    /** An attempt runs, or its answer was lost. */
    STARTED,
    /** An attempt failed; the next one has its time. */
    RETRYING,
    /** It waits for a signal, for time, for branches or for a child. */
    WAITING,
    /** Done. */
    COMPLETED,
    /** Failed for good. */
    FAILED,
    /** Its compensation runs, or waits for its next attempt. */
    COMPENSATING,
    /** Undone. */
    COMPENSATED,
    /** Its compensation failed for good. */
    COMPENSATION_FAILED,
    /** A person said to go on without it, or without its compensation. */
    SKIPPED,
    /** A person did it by hand, or undid it by hand. */
    RESOLVED;

    /**
     * Whether the saga may go on behind it.
     *
     * @return true for completed, skipped and resolved
     */
    public boolean passed() {
        return this == COMPLETED || this == SKIPPED || this == RESOLVED;
    }
}
