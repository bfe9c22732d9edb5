package io.rowlock.saga;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What people see of sagas, and do to them. Safe for use by many threads.
 *
 * <p>Each operation on one saga is one transaction of its own, under the lock of the saga's row, and writes one row to the
 * table of operations that says who did what and why. It waits up to 5 seconds for whoever has the row locked; then it throws
 * a {@link DatabaseException}, and nothing is changed. What a saga does not need is refused by the answer: an operation that
 * is done twice, or by two people at once, is done once. A saga that goes on gets a new driver job with the headers it was
 * started with, and so needs a worker that has its version.
 *
 * <p>The {@link AccessRefusedException access policy} of the Rowlock, if it has one, is asked before each operation, and before
 * what a saga says is read (its state, results, signals, reasons); it is asked before any statement but a search, so it knows the
 * saga's id. Of many at
 * once those it refuses are left, and counted as refused.
 */
public interface SagaOperations {
    /**
     * Looks for sagas. No locks. Reads one index, and of it at most 10,000 rows a page. Why sagas do not go on, and were asked
     * to be cancelled, is {@link io.rowlock.spi.AccessPolicy#HIDDEN} where the access policy does not let {@link
     * io.rowlock.spi.AccessPolicy#NOBODY} read.
     *
     * @param query which ones
     * @return a page of them, without their states
     * @throws InvalidUseException if null
     * @throws DatabaseException if the server refused it
     */
    SagaPage find(SagaQuery query);

    /**
     * The same for somebody who says who it is.
     *
     * @param query which ones
     * @param by who reads them, and why; not kept
     * @return a page of them, without their states
     * @throws InvalidUseException if null
     * @throws DatabaseException if the server refused it
     */
    SagaPage find(SagaQuery query, By by);

    /**
     * Reads a saga for somebody who does not say who it is: the access policy is asked for {@link
     * io.rowlock.spi.AccessPolicy#NOBODY}. No locks.
     *
     * @param id the saga
     * @return empty if there is none (any more)
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    Optional<SagaView> get(String id);

    /**
     * Reads a saga. No locks.
     *
     * @param id the saga
     * @param by who reads it, and why
     * @return empty if there is none (any more)
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    Optional<SagaView> get(String id, By by);

    /**
     * Reads what happened to a saga, for somebody who does not say who it is, as {@link #get(String)} does. No locks.
     *
     * @param id the saga
     * @return empty if there is none (any more)
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    Optional<SagaTimeline> timeline(String id);

    /**
     * Reads what happened to a saga. No locks.
     *
     * @param id the saga
     * @param by who reads it, and why
     * @return empty if there is none (any more)
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    Optional<SagaTimeline> timeline(String id, By by);

    /**
     * Tries again what failed: each failed step, or compensation, gets its attempts anew. A saga that is stuck as its driver
     * died goes on where it stood.
     *
     * @param id a saga that is stuck, or of which a compensation failed
     * @param by who does it, and why
     * @return whether it was done
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaAnswer retry(String id, By by);

    /**
     * Goes on without a step, or without its compensation, as if it had nothing to do. A step that is skipped is not undone
     * later, even if an attempt of it had an effect unseen: whoever skips it answers for that.
     *
     * @param id a saga that is stuck, or of which a compensation failed
     * @param step the step that failed; only where none has, as the driver died, what it stood at then: a step or a wait, no
     *     parallel part whose branches have not ended
     * @param by who does it, and why
     * @return whether it was done
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaAnswer skip(String id, String step, By by);

    /**
     * Goes on behind a step, or a compensation, that a person did by hand. A step that was done by hand is undone like others
     * if the saga is compensated later.
     *
     * @param id a saga that is stuck, or of which a compensation failed
     * @param step the step that failed, or that it stood at when its driver died, as for a skip
     * @param state the state to go on with, that of the branch where the step is in one; null: as it is. A compensation
     *     changes no state
     * @param by who does it, and why
     * @return whether it was done
     * @throws InvalidUseException if a state is given and is not of the class that the saga's definition says, too large,
     *     given for a compensation, or the definition is not registered in this process; nothing is changed
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaAnswer resolve(String id, String step, @Nullable Object state, By by);

    /**
     * Ends a saga by hand, as {@link SagaStatus#RESOLVED}: nothing is done or undone any more. A saga that waits for it takes
     * it for undone if it was being undone, else for completed, with the state it has. A child of it that is not finished is
     * a saga of its own and goes on: cancel or resolve it, too, where that is not wanted.
     *
     * @param id a saga that is stuck, or of which a compensation failed
     * @param by who does it, and why
     * @return whether it was done
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaAnswer resolveWhole(String id, By by);

    /**
     * Does not wait any longer for the next attempt of a step, or of a compensation: it is due now. Waits for signals and for
     * time go on.
     *
     * @param id a saga that waits
     * @param by who does it, and why
     * @return whether it was done; {@link SagaAnswer#HEALTHY} if a worker has it now, or it waits for nothing but signals, time
     *     or children
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaAnswer hurry(String id, By by);

    /**
     * Starts a new saga of the newest registered version that begins at a step: what stands before it is copied as done, with
     * its results; the state is as it was recorded before the step, taken to the newest version by an upcast where that is
     * another. The new saga undoes the copied steps if it is compensated; the keys it asks for of them
     * ({@link StepContext#key(String)}) are those under which the old one did them. Its deadline begins anew.
     *
     * @param id a saga that is finished; one that waits for a person is resolved first
     * @param fromStep a step on the main line of the newest version
     * @param newId the id of the new one: 1 to 200 characters
     * @param by who does it, and why
     * @return what became of it, in words too
     * @throws InvalidUseException if no version of the saga is registered in this process, or the new id is not allowed
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or the row stayed locked
     */
    SagaFork fork(String id, String fromStep, String newId, By by);

    /**
     * Retries all sagas of a query that wait for a person. 100 in one transaction; those whose rows are locked are left out
     * and counted. Where it breaks off, what was done stays done.
     *
     * @param query which ones; its page size counts for nothing
     * @param by who does it, and why
     * @return how many
     * @throws DatabaseException if the database cannot be reached
     */
    SagaTally retryAll(SagaQuery query, By by);

    /**
     * Cancels all unfinished sagas of a query, as {@link Sagas#cancel} does. 100 in one transaction; those whose rows are
     * locked are left out and counted. Where it breaks off, what was done stays done.
     *
     * @param query which ones; its page size counts for nothing
     * @param by who does it, and why
     * @return how many
     * @throws DatabaseException if the database cannot be reached
     */
    SagaTally cancelAll(SagaQuery query, By by);

    /**
     * Takes out what finished sagas of a subject say, but children of unfinished ones, which have yet to read them: states become
     * {@code {}}, what signals carried {@code {}}, results, errors and reasons null, and so the reasons of alerts about the subject. Their ids, keys, times and statuses stay, and so do
     * words of people in the table of operations, and jobs. 100 in one transaction; may be repeated. The access policy is asked once, for
     * the subject.
     *
     * @param subject the subject, or business key, of the sagas
     * @param by who does it, and why
     * @return how many
     * @throws InvalidUseException if the subject is not allowed
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    SagaRedaction redact(String subject, By by);
}
