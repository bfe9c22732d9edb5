package io.rowlock.saga;

/** How a saga stands. Its name in lower case is what its row says. */
public enum SagaStatus {
    /** It goes forward: a step runs, is retried, or it waits. */
    RUNNING,
    /** A step failed for good, or it was cancelled or too late: what was done is being undone in reverse. */
    COMPENSATING,
    /** All its steps are done. Finished. */
    COMPLETED,
    /** All that was done is undone. Finished. */
    COMPENSATED,
    /** A compensation failed for good: it waits for a person, who retries, skips or resolves that step. */
    COMPENSATION_FAILED,
    /** It can go neither forward nor back: it waits for a person. */
    STUCK,
    /** A person ended it by hand. Finished. */
    RESOLVED;

    /**
     * Whether nothing happens to it any more.
     *
     * @return true for completed, compensated and resolved
     */
    public boolean finished() {
        return this == COMPLETED || this == COMPENSATED || this == RESOLVED;
    }

    /**
     * Whether it waits for a person.
     *
     * @return true for compensation failed and stuck
     */
    public boolean needsPerson() {
        return this == COMPENSATION_FAILED || this == STUCK;
    }
}
