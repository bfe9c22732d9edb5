package io.rowlock.internal.outbox;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.sql.Connection;
import java.sql.SQLException;

/** Refuses connections on which a write would not be part of a transaction, before any SQL (promises P1 and P15). */
public final class TransactionCheck {
    private TransactionCheck() {}

    /** Throws unless the connection is open, writable and in a transaction. Asks the driver only, not the server. */
    public static void require(Connection connection, String what) {
        require(connection, what, "so the job would not commit or roll back with your rows");
    }

    /** The same, with what would be wrong in autocommit. */
    public static void require(Connection connection, String what, String otherwise) {
        if (connection == null) {
            throw new InvalidUseException("Cannot " + what + " without a connection, got null");
        }
        try {
            if (connection.isClosed()) {
                throw new InvalidUseException("Cannot " + what + " on a closed connection");
            }
            if (connection.getAutoCommit()) {
                throw new InvalidUseException(
                        "Cannot " + what + " without a transaction: the connection is in autocommit mode, " + otherwise
                                + "; call setAutoCommit(false) and commit both together");
            }
            if (connection.isReadOnly()) {
                throw new InvalidUseException("Cannot " + what + " on a read-only connection; use one that may write");
            }
        } catch (SQLException e) {
            throw new DatabaseException("The connection could not be checked", e);
        }
    }
}
