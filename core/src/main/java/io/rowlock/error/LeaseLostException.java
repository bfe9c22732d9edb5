package io.rowlock.error;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lease of a job, or a named lease, is no longer held by who tries to write under it (promise P3). Nothing was written; the
 * job runs again elsewhere, or was ended by whoever took it; another may hold the named lease. A handler or task that meets it
 * should let it go up, and its transaction be rolled back.
 */
public final class LeaseLostException extends RowlockException {
    private static final long serialVersionUID = 1L;
    private final long jobId;
    private final long token;
    private final @Nullable String lease;

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
        this.lease = null;
    }

    /**
     * Makes the exception for a named lease.
     *
     * @param message what could not be done, and why
     * @param lease the lease's name
     * @param token the fencing token under which it was tried
     */
    public LeaseLostException(String message, String lease, long token) {
        super(message + " (lease=" + lease + ", token=" + token + ")");
        this.jobId = 0;
        this.token = token;
        this.lease = lease;
    }

    /**
     * The job whose lease was lost.
     *
     * @return its id; 0 if it was a named lease
     */
    public long jobId() {
        return jobId;
    }

    /**
     * The named lease that was lost.
     *
     * @return its name; empty if it was the lease of a job
     */
    public Optional<String> lease() {
        return Optional.ofNullable(lease);
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
