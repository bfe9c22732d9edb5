package io.rowlock.error;

import java.sql.SQLException;

/**
 * The database refused or lost a statement of Rowlock. The cause is the driver's exception; {@link #sqlState()} is
 * what to decide by, never the text. In a caller's transaction the server has then usually aborted that transaction:
 * roll it back.
 */
public final class DatabaseException extends RowlockException {
    private static final long serialVersionUID = 1L;
    private final String sqlState;

    /**
     * Makes the exception.
     *
     * @param message what Rowlock was doing, and what to do
     * @param cause the driver's exception
     */
    public DatabaseException(String message, SQLException cause) {
        super(message + ": " + cause.getMessage(), cause);
        this.sqlState = cause.getSQLState() == null ? "" : cause.getSQLState();
    }

    /**
     * The five characters of the SQLSTATE, or an empty text where the driver gave none.
     *
     * @return the SQLSTATE
     */
    public String sqlState() {
        return sqlState;
    }
}
