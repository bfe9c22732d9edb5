package io.rowlock.tx;

import io.rowlock.error.CommitUnknownException;
import io.rowlock.error.DatabaseException;
import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.LentConnection;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One transaction, attempt by attempt. For one thread, and one call. */
final class RetriedTransaction<T, X extends Exception> {
    private static final Logger LOG = LoggerFactory.getLogger(RetriedTransaction.class);
    private static final String WORK =
            "the work of a transaction that is tried again: it would be done twice, or not be part of it";

    private static final String NOT_COMMITTED = "The transaction was not committed";

    private final DataSource dataSource;
    private final TransactionRetry retry;
    private final Transactions.Work<T, X> work;
    private final List<Throwable> before = new ArrayList<>();
    private final long begun = System.nanoTime();
    private boolean again;

    RetriedTransaction(DataSource dataSource, TransactionRetry retry, Transactions.Work<T, X> work) {
        this.dataSource = dataSource;
        this.retry = retry;
        this.work = work;
    }

    T run() throws X {
        while (true) {
            again = false;
            try {
                return attempt();
            } catch (Throwable thrown) {
                if (!again || !retry.policy().retries(thrown) || !pause(thrown)) {
                    before.stream().filter(each -> each != thrown).forEach(thrown::addSuppressed);
                    throw thrown;
                }
                before.add(thrown);
            }
        }
    }

    /** False if this was the last attempt: by their number, by the time, or by an interrupt. */
    private boolean pause(Throwable thrown) {
        int attempt = before.size() + 1;
        long delay = retry.policy().delay(attempt, thrown).toNanos();
        long left = retry.within().toNanos() - (System.nanoTime() - begun);
        if (attempt >= retry.policy().maxAttempts() || delay > left) {
            return false;
        }
        LOG.debug("A transaction is tried again (attempt={})", attempt + 1, thrown);
        try {
            TimeUnit.NANOSECONDS.sleep(delay);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private T attempt() throws X {
        Opened opened = open();
        T result;
        try {
            result = work.in(opened.lent().seen());
        } catch (Throwable thrown) {
            again = mayBeDoneAgain(opened, thrown);
            rollBack(opened, thrown);
            throw thrown;
        }
        commit(opened);
        giveBack(opened);
        return result;
    }

    /** What the work itself has committed elsewhere, or may have, is not to be done twice. */
    private boolean mayBeDoneAgain(Opened opened, Throwable thrown) {
        return SqlState.causeOf(thrown)
                        .filter(error -> repeatable(opened, error))
                        .isPresent()
                && (retry.idempotent() || !SqlState.isCausedBy(thrown, CommitUnknownException.class));
    }

    /** A connection, and how it was. */
    private record Opened(Connection connection, LentConnection lent, boolean autoCommit, boolean readOnly) {}

    private Opened open() {
        Connection connection;
        try {
            connection = dataSource.getConnection();
        } catch (SQLException e) {
            again = SqlState.curedByTime(SqlState.stated(e));
            throw new DatabaseException("No connection for a transaction could be had", e);
        }
        try {
            LentConnection lent = LentConnection.lend(connection, WORK);
            Opened opened = new Opened(connection, lent, connection.getAutoCommit(), connection.isReadOnly());
            connection.setAutoCommit(false);
            return opened;
        } catch (SQLException e) {
            again = SqlState.curedByTime(e);
            BrokenConnection.drop(connection);
            throw new DatabaseException("A transaction could not be begun", e);
        } catch (RuntimeException | Error e) {
            BrokenConnection.drop(connection);
            throw e;
        }
    }

    /** A connection that is itself read-only leads to no other server the next time. */
    private static boolean repeatable(Opened opened, SQLException error) {
        return SqlState.repeatable(error) && !(opened.readOnly() && SqlState.serverReadOnly(error));
    }

    private void commit(Opened opened) {
        boolean wrote = wrote(opened);
        try {
            opened.connection().commit();
        } catch (SQLException e) {
            boolean unknown = SqlState.commitUnknown(e) && wrote;
            again = unknown ? retry.idempotent() : SqlState.repeatable(e) || SqlState.commitUnknown(e);
            rollBack(opened, e);
            throw unknown
                    ? new CommitUnknownException(
                            "The connection was lost while a transaction committed; it may have committed or not. Look"
                                    + " before it is done again, or declare its work idempotent",
                            e)
                    : new DatabaseException(NOT_COMMITTED, e);
        } catch (RuntimeException | Error e) {
            rollBack(opened, e);
            throw e;
        }
    }

    /** Throws if a statement has failed, whether the work has hidden that or not. */
    private boolean wrote(Opened opened) {
        try {
            return SessionSql.wrote(opened.connection());
        } catch (SQLException e) {
            again = repeatable(opened, SqlState.hidden(e));
            rollBack(opened, e);
            throw new DatabaseException(NOT_COMMITTED, e);
        } catch (RuntimeException | Error e) {
            rollBack(opened, e);
            throw e;
        }
    }

    private static void rollBack(Opened opened, Throwable because) {
        try {
            opened.connection().rollback();
        } catch (SQLException | RuntimeException e) {
            because.addSuppressed(e);
            BrokenConnection.drop(opened.connection());
            return;
        }
        BrokenConnection.dropIfLost(opened.connection(), because);
        giveBack(opened);
    }

    /** What is committed is committed, and what failed has its error: nothing here may hide it. */
    private static void giveBack(Opened opened) {
        try {
            putBack(opened);
            opened.connection().close();
        } catch (SQLException | RuntimeException e) {
            LOG.debug("A connection could not be given back as it was, and is dropped", e);
            BrokenConnection.drop(opened.connection());
        }
    }

    private static void putBack(Opened opened) throws SQLException {
        Connection connection = opened.connection();
        if (connection.isClosed()) {
            return;
        }
        connection.setAutoCommit(opened.autoCommit());
        opened.lent().restoreIsolation();
        if (connection.isReadOnly() != opened.readOnly()) {
            connection.setReadOnly(opened.readOnly());
        }
    }
}
