package io.rowlock.job;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Looks jobs up, and does to single ones what people do. Look-ups are one statement each that waits for no lock. Changes
 * lock the job's row, and before it that of its ordering key, and wait up to 5 s for others that hold them; each is a
 * transaction of its own, all or nothing; it keeps a row that says who did what, and why, for ever. Safe for use by many threads, unless bound to one connection by {@link #in}.
 */
public interface Jobs {
    /**
     * The same over a given connection, in its transaction: sees what that transaction wrote and has not committed. A change
     * needs an open READ COMMITTED transaction, holds its locks until that ends, and waits as long as that one may.
     *
     * @param connection the caller's connection; not closed
     * @return look-ups and changes for the threads that may use the connection
     */
    Jobs in(Connection connection);

    /**
     * Cancels a job that is not finished. A handler that is at work on it is told, at once in this JVM and within half of
     * a lease in others: by an interrupt and {@link JobContext#cancelled()}; its outcome counts for nothing. Where its
     * transaction has the job's row locked, as a transactional handler's has, the cancel is kept in a row: the transaction is
     * aborted, or cannot complete the job any more, and the job is cancelled when its row is free. The next job of an ordering key starts at once; behind a running
     * one, when that one's handler has ended, and at the latest when its lease would have ended.
     *
     * @param id the job
     * @param by who cancels it, and why; kept as the job's last error
     * @return what became of it
     * @throws InvalidUseException if null, or bound to a connection without a transaction
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    Cancellation cancel(long id, By by);

    /**
     * Makes a dead or cancelled job ready again, due at once, with all its attempts; its failures are kept. With an
     * ordering key it comes before all jobs of the key that were written after it, and ends its block. It takes its dedup
     * key again, waiting for transactions that write the same. Where another job waits under the key, the two become one, as
     * when a job is put back: the revived one is cancelled as a duplicate of the other, unless it has an ordering key and the
     * other comes after it; then the other is. What stays has the newer content.
     *
     * @param id the job
     * @param by who revives it, and why
     * @return true if it waits again, or another does its work; false if there is no such job, or it is neither dead nor
     *     cancelled; then nothing is changed
     * @throws InvalidUseException if null, or bound to a connection without a transaction
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    boolean revive(long id, By by);

    /**
     * Lets the jobs behind a dead one with its ordering key go on; the dead one stays dead.
     *
     * @param id the dead job
     * @param by who skips it, and why
     * @return false if the job blocks no key; then nothing is changed
     * @throws InvalidUseException if null, or bound to a connection without a transaction
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    boolean skip(long id, By by);

    /**
     * The job with this id.
     *
     * @param id the id
     * @return the row, or empty if there is none (any more)
     * @throws DatabaseException if the server refused it
     */
    Optional<Job> find(long id);

    /**
     * The jobs about a subject, oldest first.
     *
     * @param subject the subject, such as {@code Order:42}
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<Job> ofSubject(String subject);

    /**
     * The jobs of a kind, oldest first. Walks the whole table where the kind has few rows: for tests and small tables.
     *
     * @param kind the kind's name
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<Job> ofKind(String kind);

    /**
     * The failed attempts of a job, oldest first.
     *
     * @param id the job's id
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<JobFailure> failures(long id);

    /**
     * How many rows stand in each state. Walks the whole table.
     *
     * @return every state with its count, zero included
     * @throws DatabaseException if the server refused it
     */
    Map<JobState, Long> counts();
}
