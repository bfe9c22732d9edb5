package io.rowlock.job;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a handler knows of the job it does, and how it writes the outcome inside a transaction of its own. Valid until
 * the handler returns. Safe for use by many threads.
 */
public interface JobContext {
    /**
     * The job's id.
     *
     * @return the id
     */
    long id();

    /**
     * The name under which the job was written; may be an alias of the handler's kind.
     *
     * @return the kind's name
     */
    String kind();

    /**
     * The queue.
     *
     * @return its name
     */
    String queue();

    /**
     * What the job is about.
     *
     * @return the subject, or null if it has none
     */
    @Nullable
    String subject();

    /**
     * The headers written with the job.
     *
     * @return an unmodifiable map, empty if there are none
     */
    Map<String, String> headers();

    /**
     * Which attempt this is, counted when the job was claimed (promise P6).
     *
     * @return 1 for the first
     */
    int attempt();

    /**
     * After how many attempts the job is dead.
     *
     * @return the job's own limit, or the handler's policy's
     */
    int maxAttempts();

    /**
     * The fencing number of this lease: goes up whenever the job changes hands. Pass it to systems that can refuse an
     * older one.
     *
     * @return the token
     */
    long token();

    /**
     * A key for this job that is the same in every attempt and differs from every other job's of every Rowlock
     * database. Give it to outside systems as their idempotency key.
     *
     * @return at most 60 characters of letters, digits and hyphens
     */
    String idempotencyKey();

    /**
     * Whether to stop: the job was cancelled, the lease was lost, the attempt timed out, or the worker stops and its grace period is over; then
     * the handler's thread is interrupted too, and what it still does counts for nothing. Also true while the lease has
     * run out and could not be extended, so that another worker may have the job by now; not after {@link #lockIn}.
     *
     * @return true once any of that happened
     */
    boolean cancelled();

    /**
     * Locks the job's row in the caller's transaction, under owner, token and live lease. While that lock is held
     * nobody can take the job, however long the transaction lasts. Transactional handlers need not call it.
     *
     * @param connection an open READ COMMITTED transaction on Rowlock's database
     * @throws LeaseLostException if the lease is lost or over
     * @throws InvalidUseException in autocommit mode
     * @throws PermanentFailure if a transactional handler has ended its transaction before
     * @throws DatabaseException if the server refused it
     */
    void lockIn(Connection connection);

    /**
     * Completes the job in the caller's transaction, so that it is completed if and only if that transaction commits.
     * If it rolls back though the handler returns, the attempt counts as failed. Transactional handlers need not call
     * it. Over the connection given to {@link #lockIn} it must be the transaction that locked the row.
     *
     * @param connection an open READ COMMITTED transaction on Rowlock's database
     * @throws LeaseLostException if the lease is lost, or is over and {@link #lockIn} was not called before
     * @throws InvalidUseException in autocommit mode or another isolation than READ COMMITTED
     * @throws PermanentFailure if the transaction that locked the row has ended; let it go up, and the job is dead at
     *     once: what that transaction committed would be written again by each further attempt
     * @throws DatabaseException if the server refused it
     */
    void completeIn(Connection connection);

    /**
     * Puts the job back for later in the caller's transaction, without using the attempt, so that partial work written
     * there is kept. The handler should then return.
     *
     * @param connection an open READ COMMITTED transaction on Rowlock's database
     * @param delay how long to wait, zero to 100 years
     * @throws LeaseLostException if the lease is lost, or is over and {@link #lockIn} was not called before
     * @throws InvalidUseException in autocommit mode, another isolation than READ COMMITTED, or with a negative delay
     * @throws PermanentFailure if the transaction that locked the row has ended; let it go up, and the job is dead at
     *     once: what that transaction committed would be written again by each further attempt
     * @throws DatabaseException if the server refused it
     */
    void snoozeIn(Connection connection, Duration delay);
}
