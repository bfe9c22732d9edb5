package io.rowlock.internal.idempotency;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.event.RowlockEvent.RequestRefused;
import io.rowlock.event.RowlockEvent.RequestReplayed;
import io.rowlock.event.RowlockListener;
import io.rowlock.idempotency.Answer;
import io.rowlock.idempotency.Answer.Source;
import io.rowlock.idempotency.IdempotencyKeys;
import io.rowlock.idempotency.IdempotencyOptions;
import io.rowlock.idempotency.IdempotentRequest;
import io.rowlock.idempotency.Outcome;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.internal.sql.IdempotencySql;
import io.rowlock.internal.sql.IdempotencySql.Asked;
import io.rowlock.internal.sql.IdempotencySql.Lock;
import io.rowlock.internal.sql.IdempotencySql.Place;
import io.rowlock.internal.sql.IdempotencySql.Stored;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.PayloadCodec;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Requests as rows that are written with what the requests do. */
public final class RowIdempotencyKeys implements IdempotencyKeys {
    /*
     * 1. SAVEPOINT. Whatever goes wrong from here on, the transaction goes back to it.
     * 2. The advisory lock is tried, again and again. Whoever has it is the only one that does this request, in all processes. It
     *    belongs to the transaction: it ends after its commit can be seen, and with its connection. Nobody ever waits inside the
     *    server, so no deadlock can come of it, whatever else the caller has locked.
     * 3. The row is looked for, in a statement of its own: only its snapshot is younger than the lock.
     * 4. A row is an answer: back to the savepoint, which lets go of the lock, so that many repetitions do not wait for each
     *    other's commits; and RELEASE, or each repetition of a long transaction would leave a level of it open.
     * 5. No row: the work runs, its answer becomes the row, in the same transaction.
     * 6. RELEASE. It fails if the work has ended the transaction, or gone back behind the savepoint: then the lock was lost, and
     *    with it the right to write the row, which the failure undoes.
     *
     * A process that dies between any two of these leaves nothing, for none of it is committed.
     */
    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final IdempotencySql sql;
    private final StoredAnswers answers;
    private final RowlockListener listener;
    private final ToLongFunction<IdempotentRequest> lockOf;
    private final IdempotencyOptions options;

    /** @param listener told of repetitions and refusals; throws nothing */
    public RowIdempotencyKeys(Names names, PayloadCodec codec, int mostBytes, RowlockListener listener) {
        this(
                new IdempotencySql(names),
                new StoredAnswers(codec, mostBytes),
                listener,
                request -> RequestHash.lock(names.table("idempotency_key"), request),
                IdempotencyOptions.standard());
    }

    RowIdempotencyKeys(
            IdempotencySql sql,
            StoredAnswers answers,
            RowlockListener listener,
            ToLongFunction<IdempotentRequest> lockOf,
            IdempotencyOptions options) {
        this.sql = sql;
        this.answers = answers;
        this.listener = listener;
        this.lockOf = lockOf;
        this.options = options;
    }

    @Override
    public IdempotencyKeys with(IdempotencyOptions changed) {
        required("The options of idempotency keys", changed);
        return new RowIdempotencyKeys(sql, answers, listener, lockOf, changed);
    }

    @Override
    public <T, X extends Exception> Answer<T> execute(
            Connection connection, IdempotentRequest request, Class<T> type, Work<T, X> work) throws X {
        required("The request", request);
        required("The type of the answer", type);
        required("The work of the request", work);
        TransactionCheck.require(connection, "execute a request under an idempotency key");
        Place place = new Place(request.key().value(), RequestHash.scope(request));
        Begun begun = new Begun(connection, request, place, savepoint(connection));
        Optional<Stored> stored = lookUnderLock(begun);
        return stored.isPresent() ? replay(begun, stored.get(), type) : run(begun, type, work);
    }

    /** A request, behind its savepoint. */
    private record Begun(Connection connection, IdempotentRequest request, Place place, Savepoint savepoint) {
        /** For messages: where to look. */
        String what() {
            return "(key=" + place.key() + ", method=" + request.method() + ", path=" + request.path() + ")";
        }
    }

    private static Savepoint savepoint(Connection connection) {
        try {
            return connection.setSavepoint();
        } catch (SQLException e) {
            throw new DatabaseException(
                    "A request under an idempotency key could not begin; roll the transaction back", e);
        }
    }

    /** The stored answer; without one the lock is held, and nobody else does the request. */
    private Optional<Stored> lookUnderLock(Begun begun) {
        try {
            lock(begun);
            Optional<Stored> stored = sql.find(begun.connection(), begun.place());
            if (stored.isPresent()) {
                undo(begun);
            }
            return stored;
        } catch (SQLException e) {
            goBack(begun, e);
            throw new DatabaseException(
                    "A request under an idempotency key could not begin; roll the transaction back " + begun.what(), e);
        } catch (RuntimeException e) {
            goBack(begun, e);
            throw e;
        }
    }

    private void lock(Begun begun) throws SQLException {
        long hash = lockOf.applyAsLong(begun.request());
        long until = System.nanoTime() + options.patience().toNanos();
        long pause = FIRST_PAUSE;
        while (!tryLock(begun, hash)) {
            long left = until - System.nanoTime();
            if (left <= 0 || Thread.currentThread().isInterrupted()) {
                throw refused(
                        begun.request(),
                        Reason.IN_PROGRESS,
                        "A request with this idempotency key is being done at this moment; ask again a little later, with the"
                                + " same key " + begun.what());
            }
            LockSupport.parkNanos(Math.min(left, ThreadLocalRandom.current().nextLong(pause / 2, pause + 1)));
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    private boolean tryLock(Begun begun, long hash) throws SQLException {
        Lock lock = sql.tryLock(begun.connection(), hash);
        if (!lock.readCommitted()) {
            throw new InvalidUseException(
                    "Requests under idempotency keys are done in READ COMMITTED transactions only, this"
                            + " one is " + lock.isolation()
                            + ": it could not see an answer that another has stored meanwhile."
                            + " Nothing was done and the transaction goes on; use READ COMMITTED");
        }
        if (lock.readOnly()) { // as the server would say after the work: the connection may lead to a demoted one
            throw new SQLException("cannot store an answer in a read-only transaction", "25006");
        }
        return lock.taken();
    }

    private <T> Answer<T> replay(Begun begun, Stored stored, Class<T> type) {
        IdempotentRequest request = begun.request();
        if (stored.redacted()) {
            throw refused(
                    request,
                    Reason.ANSWER_REDACTED,
                    "The request with this idempotency key was done, and its answer has been taken out since "
                            + begun.what());
        }
        if (!stored.fingerprint().equals(request.fingerprint())) {
            throw refused(
                    request,
                    Reason.DIFFERENT_REQUEST,
                    "This idempotency key was used for another request; take a new key for each " + begun.what());
        }
        T answer = answers.read(stored.response(), type, begun.what());
        listener.on(new RequestReplayed(request.method(), request.path()));
        return new Answer<>(answer, Source.REPLAYED);
    }

    private IdempotencyRefusedException refused(IdempotentRequest request, Reason reason, String message) {
        listener.on(new RequestRefused(request.method(), request.path(), reason));
        return new IdempotencyRefusedException(reason, message);
    }

    private <T, X extends Exception> Answer<T> run(Begun begun, Class<T> type, Work<T, X> work) throws X {
        Outcome<T> outcome;
        String response;
        try {
            outcome = work.run();
            required("The outcome of a request's work", outcome);
            response = outcome.stored() ? answers.write(outcome.answer(), type, begun.what()) : "";
        } catch (Throwable thrown) {
            goBack(begun, thrown);
            throw thrown;
        }
        try {
            if (outcome.stored()) {
                store(begun, response);
            } else {
                undo(begun);
            }
        } catch (SQLException e) {
            if (SqlState.savepointGone(e)) {
                throw notOneTransaction(begun, e);
            }
            goBack(begun, e);
            throw new DatabaseException(
                    "The answer of a request could not be stored; roll the transaction back " + begun.what(), e);
        }
        return new Answer<>(outcome.answer(), outcome.stored() ? Source.EXECUTED : Source.UNDONE);
    }

    private void store(Begun begun, String response) throws SQLException {
        IdempotentRequest request = begun.request();
        Asked asked = new Asked(request.principal(), request.method(), request.path(), request.fingerprint());
        boolean stored = sql.store(begun.connection(), begun.place(), asked, response, options.lifetime());
        if (!stored) { // a row that is not expired after all: what the work wrote must not stay without an answer
            RowlockException none = notOneTransaction(begun, null);
            goBack(begun, none);
            throw none;
        }
        begun.connection().releaseSavepoint(begun.savepoint());
    }

    private static RowlockException notOneTransaction(Begun begun, @Nullable SQLException because) {
        return new RowlockException(
                "The work of a request has ended the transaction, or rolled it back behind where the work began, or the"
                        + " database's clock was put back; it may have been done by another meanwhile, and no answer is"
                        + " stored. Roll back, and leave both to the caller "
                        + begun.what(),
                because);
    }

    private static void undo(Begun begun) throws SQLException {
        begun.connection().rollback(begun.savepoint());
        begun.connection().releaseSavepoint(begun.savepoint());
    }

    private static void goBack(Begun begun, Throwable because) {
        try {
            undo(begun);
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }

    private static void required(String what, @Nullable Object value) {
        if (value == null) {
            throw new InvalidUseException(what + " must not be null");
        }
    }
}
