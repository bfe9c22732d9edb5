package io.rowlock.saga;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Starts sagas, tells them of outside events, and lets people act on them. Safe for use by many threads.
 *
 * <p>What takes a connection is written in the caller's transaction, and happens if and only if that commits (promise P1).
 * What takes none has a transaction of its own.
 */
public interface Sagas {
    /**
     * Starts a saga in the caller's transaction, with the newest version that is registered. Idempotent: a second start of
     * the same id, or of the same name while an unfinished one holds the same business key, is answered with that one. It
     * waits for another transaction that starts such a one and has not ended.
     *
     * @param connection an open READ COMMITTED transaction on Rowlock's database
     * @param type the saga's name and state
     * @param id 1 to 200 characters, unique among all sagas
     * @param state its first state
     * @param <S> the saga's state
     * @return whether it is new
     * @throws InvalidUseException before any SQL if the saga is not registered, the id is not allowed, the state cannot be
     *     written, the connection is in autocommit mode or read-only; after some if the id is that of a saga of another name,
     *     or the transaction is not READ COMMITTED, or its role may not draw ids of jobs: then nothing was written, and the
     *     transaction can go on
     * @throws DatabaseException if the server refused it
     */
    default <S> SagaStarted start(Connection connection, SagaType<S> type, String id, S state) {
        return start(connection, type, id, state, options -> {});
    }

    /**
     * Starts a saga and says more of it.
     *
     * @param connection an open READ COMMITTED transaction on Rowlock's database
     * @param type the saga's name and state
     * @param id 1 to 200 characters, unique among all sagas
     * @param state its first state
     * @param options says what the saga is about
     * @param <S> the saga's state
     * @return whether it is new
     * @throws InvalidUseException as without options, or if they are null
     * @throws DatabaseException if the server refused it
     * @see #start(Connection, SagaType, String, Object)
     */
    <S> SagaStarted start(
            Connection connection, SagaType<S> type, String id, S state, Consumer<SagaStartOptions> options);

    /**
     * Starts many sagas in the caller's transaction, as one start after the other would: in one statement for each 1,000 of
     * them, or 8 MiB of states, and one or two more for each that was there. All are checked before any SQL. They are written in
     * the order of their ids, so that two calls with the same ids do not wait for each other; where other sagas of two calls hold
     * the same business keys, the server may end one of them.
     *
     * @param connection an open READ COMMITTED transaction on Rowlock's database
     * @param requests the sagas, perhaps of several types; may be empty
     * @return the answers, in the order of the requests
     * @throws InvalidUseException as for one saga: before any SQL, then none is written; or after some, if an id is that of a saga of
     *     another name: then the others may be written, and the transaction can go on or be rolled back
     * @throws DatabaseException if the server refused it
     * @see #start(Connection, SagaType, String, Object)
     */
    List<SagaStarted> startAll(Connection connection, List<? extends SagaRequest<?>> requests);

    /**
     * Tells sagas of an outside event, in the caller's transaction: a job is written that records it. It may be early: a
     * saga that does not wait for it yet finds it when it does; it may be late or come twice: then it is recorded and moves
     * nothing. A saga of the id, or under the key, that is not there is looked for again for about a day; then the job is a
     * dead letter, with an alert.
     *
     * @param connection an open transaction on Rowlock's database
     * @param signal the signal
     * @param target for which saga, or sagas
     * @param payload what it carries
     * @param <T> the type of that
     * @throws InvalidUseException before any SQL if something is null or cannot be written, or the connection is in autocommit
     *     mode or read-only
     * @throws DatabaseException if the server refused it
     */
    <T> void signal(Connection connection, SagaSignal<T> signal, SagaTarget target, T payload);

    /**
     * Asks a saga to end before its pivot: nothing new begins, and what was done is undone. An attempt that runs is waited
     * for. One that is stuck before its pivot is undone at once. Waits up to 5 seconds for whoever has the saga's row locked.
     *
     * @param id the saga
     * @param by who asks, and why; becomes the saga's reason
     * @return whether it will be undone
     * @throws AccessRefusedException if the access policy of the Rowlock refused it, before any statement
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaCancellation cancel(String id, By by);
}
