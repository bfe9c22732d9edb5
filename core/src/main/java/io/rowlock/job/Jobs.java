package io.rowlock.job;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Looks jobs up, and does to them what people do. Look-ups are short statements that wait for no lock. Changes
 * lock the job's row, and before it that of its ordering key, and wait up to 5 s for others that hold them; each is a
 * transaction of its own, all or nothing; it keeps a row that says who did what, and why, in the same transaction. What a job
 * carries is read by {@link #content} alone. The payload's class and the codec are never needed. The {@link
 * AccessRefusedException access policy} of the application, if it has one, is asked before a content, an error text or failures are read and before each
 * change; what it refuses is not done. Safe for use by many threads, unless bound to one connection by {@link #in}.
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
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    Cancellation cancel(long id, By by);

    /**
     * Makes a dead or cancelled job ready again, due at once, with all its attempts; its failures are kept. Where its handler was
     * at work when it was cancelled, it is due when that lease would have ended: the handler may run on until then. With an
     * ordering key it comes before all jobs of the key that were written after it, and ends its block. It takes its dedup
     * key again. While another transaction writes the same, it is tried again for 5 s, without holding a lock in between, and
     * then refused. Bound to a connection it waits for that transaction as long as this one may, and comes back without the key
     * after that. Where another job waits under the key, the two become one, as when a job is put back: the revived one is
     * cancelled as a duplicate of the other, unless it has an ordering key and the other comes after it; then the other is. What
     * stays has the newer content.
     *
     * @param id the job
     * @param by who revives it, and why
     * @return {@link JobAnswer#DONE}; {@link JobAnswer#MERGED} if another does its work; {@link JobAnswer#UNKNOWN}, {@link
     *     JobAnswer#UNFINISHED}, or {@link JobAnswer#FINISHED} if it is completed or was redacted
     * @throws InvalidUseException if null, or bound to a connection without a transaction
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    JobAnswer revive(long id, By by);

    /**
     * Lets the jobs behind a dead one with its ordering key go on; the dead one stays dead.
     *
     * @param id the dead job
     * @param by who skips it, and why
     * @return false if the job blocks no key; then nothing is changed
     * @throws InvalidUseException if null, or bound to a connection without a transaction
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    boolean skip(long id, By by);

    /**
     * Deletes a finished job and the failures of its attempts, for good; what was done to it, and alerts about it, stay. One that
     * blocks its ordering key lets the jobs behind it go on. The key of {@link DedupMode#ONCE} is free again.
     *
     * @param id the job
     * @param by who deletes it, and why
     * @return {@link JobAnswer#DONE}, {@link JobAnswer#UNKNOWN} or {@link JobAnswer#UNFINISHED}
     * @throws InvalidUseException if null, or bound to a connection without a transaction
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    JobAnswer delete(long id, By by);

    /**
     * Gives a waiting job another time: sooner or later. One with an ordering key keeps its place in the order, and holds back
     * those behind it until then; one that is parked is due no earlier than the key or limit lets it.
     *
     * @param id the job
     * @param at when it is to be due, up to the year 9999; a time in the past is now, by the database's clock
     * @param by who does it, and why
     * @return {@link JobAnswer#DONE}, {@link JobAnswer#UNKNOWN}, {@link JobAnswer#RUNNING} or {@link JobAnswer#FINISHED}
     * @throws InvalidUseException if null or too far, or bound to a connection without a transaction
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    JobAnswer reschedule(long id, Instant at, By by);

    /**
     * Puts a waiting job into another queue, with its time, dedup key and limit key. With an ordering key it leaves those of its
     * key that stay behind: they no longer wait for it. In the other queue it comes at the place of its id, among the jobs of its
     * key there, but behind such as have begun. Limits and policies are those of the other queue from then on; a worker must
     * serve it.
     *
     * @param id the job
     * @param queue where it is to stand; 1 to 200 characters
     * @param by who does it, and why
     * @return {@link JobAnswer#DONE}, {@link JobAnswer#ALREADY} if it is there, {@link JobAnswer#UNKNOWN}, {@link JobAnswer#RUNNING}
     *     or {@link JobAnswer#FINISHED}; a dead one is to be revived first
     * @throws InvalidUseException if null or not allowed, or bound to a connection without a transaction
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or a lock could not be had
     */
    JobAnswer move(long id, String queue, By by);

    /**
     * Changes all jobs of a query that are in a state the change is for; others are passed over. Up to 100 in one transaction
     * under locks that are taken key rows first, in their order, then jobs, in the order of their ids; what others have locked, or whose
     * dedup key another transaction writes, is tried again for a second and then left, and counted; each change keeps a row of its own that says who and why. Some
     * hundred jobs a second. Goes from those written last to the first; jobs that are written meanwhile are left alone. Stops
     * between two transactions when the thread is interrupted, which it stays, or {@code progress} throws. Where it breaks off,
     * by a crash too, what was done stays done: the same call goes on, and {@link JobQuery#after} with {@link JobTally#next}
     * goes on without looking at the first ones again.
     *
     * @param query which ones; its page size counts for nothing; without states, those the change is for
     * @param change what is to be done
     * @param by who does it, and why
     * @param progress told after each transaction how far it has come; throws to stop it
     * @return how many; {@link JobTally#next} is empty if all were looked at
     * @throws InvalidUseException if null, or bound to a connection: each batch is a transaction of its own
     * @throws DatabaseException if the server refused it
     */
    JobTally changeAll(JobQuery query, JobChange change, By by, Consumer<JobTally> progress);

    /**
     * Takes out what the finished jobs of a subject carry: payload {@code {}}, no headers, errors and the failures of attempts
     * without their words, and so the reasons of alerts that happened last to a job, or a saga, of the subject, also where that
     * is gone by now. Ids, kinds, keys, subjects and times stay, and
     * words of people in the table of operations. Such a job cannot be revived. Up to 100 in one transaction; may be repeated,
     * and is to be where unfinished ones are left. Old versions of the rows are gone when the server has vacuumed them, and not
     * from backups and archived WAL. What sagas say is redacted by their own operations.
     *
     * @param subject the subject
     * @param by who does it, and why
     * @return how many, and how many are left
     * @throws InvalidUseException if null or not allowed, or bound to a connection
     * @throws DatabaseException if the server refused it
     */
    JobRedaction redact(String subject, By by);

    /**
     * Reads what a job carries. That is kept like a change, and before it, in a transaction of its own, also where this is bound
     * to a connection, whose rollback would hide it: it then takes a second connection of the data source for a moment.
     *
     * @param id the job
     * @param by who reads it, and why
     * @return payload and headers, or empty if there is no such job (any more)
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    Optional<Job.Content> content(long id, By by);

    /**
     * Looks for jobs. A page reads about 10,000 rows and not more, in milliseconds to tens of them: by subject, or parked, dead
     * and cancelled ones by queue and kind, over an index of these; by the time of the end over an index of that; anything else
     * from the newest job on, in the order of ids. Rows that match are found at once where an index leads to them, else over
     * several pages, of which some may be empty. Error texts are {@link io.rowlock.spi.AccessPolicy#HIDDEN} where the access policy
     * does not let {@link io.rowlock.spi.AccessPolicy#NOBODY} read.
     *
     * @param query which ones
     * @return the page
     * @throws InvalidUseException if null, or the cursor is of a query in the other order
     * @throws DatabaseException if the server refused it
     */
    JobPage find(JobQuery query);

    /**
     * The same for somebody who says who it is.
     *
     * @param query which ones
     * @param by who reads them, and why; not kept
     * @return the page
     * @throws InvalidUseException if null, or the cursor is of a query in the other order
     * @throws DatabaseException if the server refused it
     */
    JobPage find(JobQuery query, By by);

    /**
     * What waits, for how long, what runs and what is dead, for each queue and kind of which anything does. Steps from one queue
     * and kind to the next over indexes, and reads of each no more rows than {@link JobCounts} says, whatever there is.
     *
     * @return in the order of queues and kinds; without those that have completed and cancelled jobs only
     * @throws DatabaseException if the server refused it
     */
    List<JobCounts> load();

    /**
     * The job with this id; its error text as in {@link #find(JobQuery)}.
     *
     * @param id the id
     * @return the row, or empty if there is none (any more)
     * @throws DatabaseException if the server refused it
     */
    Optional<Job> find(long id);

    /**
     * The same for somebody who says who it is.
     *
     * @param id the id
     * @param by who reads it, and why; not kept
     * @return the row, or empty if there is none (any more)
     * @throws InvalidUseException if null
     * @throws DatabaseException if the server refused it
     */
    Optional<Job> find(long id, By by);

    /**
     * The jobs about a subject, oldest first; their error texts as in {@link #find(JobQuery)}.
     *
     * @param subject the subject, such as {@code Order:42}
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<Job> ofSubject(String subject);

    /**
     * The jobs of a kind, oldest first; their error texts as in {@link #find(JobQuery)}. Walks the whole table where the kind has few rows: for tests and small tables.
     *
     * @param kind the kind's name; rows under its aliases count as for {@link JobQuery#kind}
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<Job> ofKind(String kind);

    /**
     * The failed attempts of a job, oldest first, for somebody who does not say who it is: the access policy is asked for {@link
     * io.rowlock.spi.AccessPolicy#NOBODY}.
     *
     * @param id the job's id
     * @return at most 1,000 rows
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    List<JobFailure> failures(long id);

    /**
     * The failed attempts of a job, oldest first.
     *
     * @param id the job's id
     * @param by who reads them, and why; not kept
     * @return at most 1,000 rows
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    List<JobFailure> failures(long id, By by);

    /**
     * How many rows stand in each state. Walks the whole table: for tests and small tables; {@link #load} does not.
     *
     * @return every state with its count, zero included
     * @throws DatabaseException if the server refused it
     */
    Map<JobState, Long> counts();
}
