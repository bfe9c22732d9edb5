package io.rowlock.job;

/** What became of a request to change a job. */
public enum JobAnswer {
    /** It was done. */
    DONE,
    /** There is no such job (any more). */
    UNKNOWN,
    /** A worker has the job now; nothing was changed. */
    RUNNING,
    /** The job is completed, dead or cancelled; nothing was changed. */
    FINISHED,
    /** The job is not finished; nothing was changed. */
    UNFINISHED
}
