package io.rowlock.error;

/**
 * The application's access policy refused to read what a job, a saga or an alert says, or to change something. Nothing was read or changed; in a caller's
 * transaction that one goes on.
 */
public final class AccessRefusedException extends RowlockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message who may not do what to what
     */
    public AccessRefusedException(String message) {
        super(message);
    }
}
