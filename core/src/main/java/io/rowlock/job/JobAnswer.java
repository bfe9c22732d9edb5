package io.rowlock.job;

/** What became of a request to change a job. */
public enum JobAnswer {
    /** It was done. */
    DONE,
    /** It is so already; nothing was changed. */
    ALREADY,
    /** A revived job was made one with another that waits under its dedup key: that one does the work, this one stays cancelled. */
    MERGED,
    /** There is no such job (any more). */
    UNKNOWN,
    /** A worker has the job now; nothing was changed. */
    RUNNING,
    /** The job is completed, dead or cancelled, or redacted where it was to be revived; nothing was changed. */
    FINISHED,
    /** The job is not finished; nothing was changed. */
    UNFINISHED
}
