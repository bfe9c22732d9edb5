package io.rowlock.internal.engine;

/** The job's row is locked by somebody else's transaction though the lease is ours: the job is tried again soon. */
final class RowBusyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RowBusyException(long jobId) {
        super("The row is locked by another transaction (job=" + jobId + ")", null, false, false);
    }
}
