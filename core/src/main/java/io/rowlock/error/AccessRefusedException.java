package io.rowlock.error;

/**
 * The application's access policy refused to read a job's content, or to change it. Nothing was read or changed; in a caller's
 * transaction that one goes on.
 */
public final class AccessRefusedException extends RowlockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message who may not do what to which job
     */
    public AccessRefusedException(String message) {
        super(message);
    }
}
