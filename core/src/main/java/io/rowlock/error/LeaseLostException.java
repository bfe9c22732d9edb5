package io.rowlock.error;

/**
 * The lease of a job is no longer held by who tries to write under it (promise P3). Nothing was written; the job runs
 * again elsewhere, or was ended by whoever took it. A handler that meets it should let it go up.
 */
public final class LeaseLostException extends RowlockException {
    private static final long serialVersionUID = 1L;
    private final long jobId;
    private final long token;

    /**
     * Makes the exception.
     *
     * @param message what could not be written
     * @param jobId the job's id
     * @param token the fencing token under which it was tried
     */
    public LeaseLostException(String message, long jobId, long token) {
        super(message + " (job=" + jobId + ", token=" + token + ")");
        this.jobId = jobId;
        this.token = token;
    }

    /**
     * The job whose lease was lost.
     *
     * @return its id
     */
    public long jobId() {
        return jobId;
    }

    /**
     * The fencing token that was too old.
     *
     * @return the token
     */
    public long token() {
        return token;
    }
}
