package io.rowlock.job;

/** The answer to a request to cancel a job. */
public enum Cancellation {
    /** The job had not begun, or waited for another attempt: it never runs again. */
    STOPPED,
    /**
     * A handler was at work on the job: that one is told, its outcome counts for nothing, but what it does outside the
     * database may still happen. The job is cancelled, or, where the handler's transaction has its row locked, will be when
     * that has ended, unless it was completed just before.
     */
    REQUESTED,
    /** The job was completed, dead or cancelled already: nothing was changed. */
    ALREADY_FINISHED,
    /** There is no such job (any more). */
    UNKNOWN
}
