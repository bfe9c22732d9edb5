package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.internal.sql.LeaseSql;
import io.rowlock.internal.sql.LeaseSql.Fenced;
import io.rowlock.internal.sql.LeaseSql.Held;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.lease.Fence;
import java.sql.Connection;
import java.sql.SQLException;

/** The fence of a name and a token, by the row. */
final class RowFence implements Fence {
    private final LeaseSql sql;
    private final Held held;

    RowFence(LeaseSql sql, Held held) {
        this.sql = sql;
        this.held = held;
    }

    @Override
    public String name() {
        return held.name();
    }

    @Override
    public long token() {
        return held.token();
    }

    @Override
    public void fence(Connection connection) {
        TransactionCheck.require(
                connection, "fence", "so the fence would be gone before the write that it is to protect");
        Fenced fenced = look(connection);
        if (!fenced.isolation().equals("read committed")) {
            throw new InvalidUseException("Cannot fence under " + fenced.isolation()
                    + ": the transaction sees the lease as it was when it began; make it READ COMMITTED (lease="
                    + held.name() + ')');
        }
        if (!fenced.held()) {
            throw new LeaseLostException(
                    "The lease is not held under this token any more: another has taken it, it was released or revoked, or"
                            + " it ran out; nothing may be written under it, roll back",
                    held.name(),
                    held.token());
        }
    }

    private Fenced look(Connection connection) {
        try {
            return sql.fence(connection, held);
        } catch (SQLException e) {
            String advice = SqlState.schemaDiffers(e)
                    ? "Rowlock's tables are not there; use a connection to the database that holds them"
                    : "roll back, and try again under the lease that is held then";
            throw new DatabaseException("The lease " + held.name() + " could not be fenced; " + advice, e);
        }
    }
}
