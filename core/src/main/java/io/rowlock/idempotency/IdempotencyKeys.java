package io.rowlock.idempotency;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import java.sql.Connection;

/**
 * Requests that clients may repeat without harm: each is done once, and its repetitions are given the stored answer. Semantics of
 * draft-ietf-httpapi-idempotency-key-header-07; for HTTP or whatever else carries requests. Safe for use by many threads.
 */
public interface IdempotencyKeys {
    /**
     * Does a request in the caller's transaction, unless it was done before. The answer is stored as a row of that transaction: it
     * is there if and only if what the work wrote is. There is never a row of a request that is only being done, so no crash leaves
     * one behind; what is being done holds an advisory lock, which ends with its transaction: where a host vanishes or a process stands
     * still, when the server notices (tcp_keepalives_idle, idle_in_transaction_session_timeout).
     *
     * <p>While another transaction does the same request this one waits for at most {@link IdempotencyOptions#patience}, by asking
     * again and again: no statement blocks. Two keys that happen to share the lock's 64 bits wait for each other, and nothing else.
     *
     * <p>The work runs behind a savepoint. If it throws, or its outcome is undone, the transaction goes back there: what it wrote
     * over this connection is gone, and the transaction is as it was. What it keeps elsewhere (the state of an EntityManager, calls
     * to the outside) is its own affair; with Jakarta Persistence roll back or clear. A crash before the caller's commit leaves
     * nothing; after it, the stored answer.
     *
     * @param connection open, in a READ COMMITTED transaction; neither committed, rolled back nor closed here
     * @param request what is asked for, by whom, under which key
     * @param type what the answer is, written and read by Rowlock's payload codec; later versions of it must read what earlier ones
     *     have written
     * @param work does it over the same connection, and must not end the transaction
     * @param <T> the type of the answer
     * @param <X> what the work throws
     * @return the answer, and whether it was stored before
     * @throws IdempotencyRefusedException if another transaction is doing it, the key was used for a request with another
     *     fingerprint, or its answer was {@link Answers#redact taken out}; the transaction is as it was
     * @throws InvalidUseException before any change, if an argument is null, the connection is closed, read-only or in autocommit,
     *     or the isolation is not READ COMMITTED: above it the snapshot would not show an answer that was stored meanwhile. After the
     *     work, and with what it wrote undone, if its answer cannot be written as JSON and read again, or is larger than the
     *     builder's {@code maxPayloadBytes}
     * @throws RowlockException if the work ended the transaction or went back behind the savepoint, if the row of an answer that had
     *     expired is there again (the database's clock was put back), or if a stored answer cannot be read as the type; roll back
     * @throws DatabaseException if the database refused or lost a statement; roll back
     * @throws X what the work threw
     */
    <T, X extends Exception> Answer<T> execute(
            Connection connection, IdempotentRequest request, Class<T> type, Work<T, X> work) throws X;

    /**
     * The same keys with other options.
     *
     * @param options for what is executed through the answer
     * @return keys that share their rows with these
     * @throws InvalidUseException if null
     */
    IdempotencyKeys with(IdempotencyOptions options);

    /**
     * What a request asks for. Called once, on the caller's thread, or not at all.
     *
     * @param <T> the type of the answer
     * @param <X> what it throws
     */
    @FunctionalInterface
    interface Work<T, X extends Exception> {
        /**
         * Does it.
         *
         * @return the answer, and whether it lasts
         * @throws X whatever fails; nothing is stored, and what was written is undone
         */
        Outcome<T> run() throws X;
    }
}
