package io.rowlock.tx;

import io.rowlock.error.CommitUnknownException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.sql.Connection;
import javax.sql.DataSource;

/** Runs transactions, and runs them again where that is safe: after deadlocks, restarts and failovers. Holds nothing. */
public final class Transactions {
    private Transactions() {}

    /**
     * The same as {@link #retrying(DataSource, TransactionRetry, Work)} with {@link TransactionRetry#standard()}.
     *
     * @param dataSource where connections come from
     * @param work what the transaction does
     * @param <T> what it gives
     * @param <X> what it throws
     * @return what the work gave in the attempt that committed
     * @throws InvalidUseException as there
     * @throws DatabaseException as there
     * @throws CommitUnknownException as there
     * @throws X what the work threw
     */
    public static <T, X extends Exception> T retrying(DataSource dataSource, Work<T, X> work) throws X {
        return retrying(dataSource, TransactionRetry.standard(), work);
    }

    /**
     * Runs work in a transaction of its own and commits it; does both again, over a new connection, where nothing of it is there and
     * the work is not to blame. Blocks for as long as the attempts and the pauses between them take.
     *
     * <p>Again is tried after a serialisation failure or a deadlock (SQLSTATE 40001, 40P01), at the COMMIT too, for that is the
     * server's word that it rolled back; and, before the COMMIT was sent, after a lost connection (08xxx), a shutdown, crash or start
     * of the server (57P01, 57P02, 57P03), a session that it ended for idling (25P03, 57P05), a server that takes no writes (25006,
     * unless the connection itself is read-only) or no more connections (53300); and where no connection can be had, if time may cure
     * it. A connection that was lost, or leads to a server without writes, is aborted, so that its pool drops it.
     *
     * <p>If the connection is lost <em>at</em> the COMMIT, nobody here knows what became of it: work that was declared idempotent, or
     * has written nothing, is done again, other work is not. Nothing is what the server counts as nothing until the COMMIT: a {@code
     * NOTIFY} alone, or rows of other servers alone (postgres_fdw), are done again. A {@link CommitUnknownException} among the causes of
     * what the work throws, as of a transaction within it, is done again only if all the work is declared idempotent. Where an attempt before ended so, the error of the last one has a
     * {@link CommitUnknownException} among the suppressed ones. A statement that failed in the work, and whose error the work has
     * hidden, fails the transaction all the same. Everything else the work or the database throws goes to the caller at once, with the errors of
     * the attempts before as suppressed ones. An interrupt ends the pauses, and with them the attempts; it stays set.
     *
     * <p>The work may be done several times: what it does besides writing over its connection (mails, calls, fields of objects) must
     * bear that. A crash of this process leaves the transaction committed or not, and does it no second time.
     *
     * @param dataSource where connections come from; autocommit is turned off for the transaction, the isolation is theirs; what the work
     *     sets of it, and of read-only, by the connection's methods is put back
     * @param retry how often and for how long
     * @param work what the transaction does
     * @param <T> what it gives
     * @param <X> what it throws
     * @return what the work gave in the attempt that committed
     * @throws InvalidUseException if an argument is null
     * @throws DatabaseException if no connection could be had, or the transaction could not be begun or was not committed
     * @throws CommitUnknownException if it may have committed or not, and was not done again
     * @throws X what the work threw, in the last attempt
     */
    public static <T, X extends Exception> T retrying(DataSource dataSource, TransactionRetry retry, Work<T, X> work)
            throws X {
        if (dataSource == null || retry == null || work == null) {
            throw new InvalidUseException("A transaction needs a data source, its retries and work, got null");
        }
        return new RetriedTransaction<>(dataSource, retry, work).run();
    }

    /**
     * What a transaction does.
     *
     * @param <T> what it gives
     * @param <X> what it throws
     */
    @FunctionalInterface
    public interface Work<T, X extends Exception> {
        /**
         * Does it, once for each attempt.
         *
         * @param connection the transaction's; refuses what would end it
         * @return anything, null too
         * @throws X whatever fails; rolls back
         */
        T in(Connection connection) throws X;
    }
}
