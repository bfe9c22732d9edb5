package io.rowlock.error;

import java.sql.SQLException;

/**
 * The connection was lost while a transaction committed: it may have committed or not, and was not tried again, as its work may not
 * be done twice. Look what is there, by the rows the work writes, before it is done again; or declare work that may be done twice as
 * idempotent. The cause is the driver's exception; errors of attempts before are suppressed ones.
 */
public final class CommitUnknownException extends RowlockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what was committed, and what to do
     * @param cause the driver's exception
     */
    public CommitUnknownException(String message, SQLException cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
