package io.rowlock.internal.lease;

import io.rowlock.error.CommitUnknownException;
import io.rowlock.error.DatabaseException;
import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.LentConnection;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.lease.AdvisoryLeader.Writing;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * What a leader writes over its session: committed, or rolled back whatever was thrown. A session that cannot be put back into
 * autocommit is dropped, for there that would commit what failed; what the work throws says nothing about the session.
 */
final class LeaderTransaction {
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final String WORK =
            "what a leader writes: its transaction is committed for it, and its session kept";
    private static final String NOT_COMMITTED = "What the leader wrote was not committed";

    private final Connection session;
    private final int networkTimeout;

    /** @param networkTimeout the session's, apart from this */
    LeaderTransaction(Connection session, int networkTimeout) {
        this.session = session;
        this.networkTimeout = networkTimeout;
    }

    /** Commits it, or throws what the work threw, or what became of it. */
    void run(Writing writing) throws Exception {
        begin();
        try {
            writing.over(LentConnection.of(session, WORK));
        } catch (Throwable thrown) {
            rollBack(thrown);
            throw thrown;
        }
        commit();
        putBack();
    }

    private void begin() {
        try {
            session.setNetworkTimeout(Runnable::run, Math.toIntExact(LONGEST.toMillis()));
            session.setAutoCommit(false);
            SessionSql.begin(session, LONGEST, LONGEST);
        } catch (SQLException e) {
            rollBack(e);
            throw new DatabaseException("The transaction of a leader could not be begun", e);
        }
    }

    private void commit() {
        try {
            SessionSql.wrote(session); // fails where a statement of the work has, whose error it hid
        } catch (SQLException e) {
            rollBack(e);
            throw new DatabaseException(NOT_COMMITTED, SqlState.hidden(e));
        }
        try {
            session.commit();
        } catch (SQLException e) {
            rollBack(e);
            throw SqlState.commitUnknown(e)
                    ? new CommitUnknownException(
                            "The leader's session was lost while it committed; what it wrote may be there or not", e)
                    : new DatabaseException(NOT_COMMITTED, e);
        }
    }

    private void rollBack(Throwable because) {
        try {
            session.rollback();
        } catch (SQLException | RuntimeException e) {
            if (e != because) {
                because.addSuppressed(e);
            }
            BrokenConnection.drop(session);
            return;
        }
        putBack();
    }

    private void putBack() {
        try {
            session.setAutoCommit(true);
            session.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException | RuntimeException e) {
            BrokenConnection.drop(session);
        }
    }
}
