package io.rowlock.job;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;

/**
 * The door through which a transaction writes jobs. Every method inserts into the job table over the connection it is
 * given, in the transaction that is open there: the jobs exist if and only if that transaction commits, and follow its
 * savepoints (promise P1). Rowlock neither commits, rolls back nor closes the connection.
 *
 * <p>A job whose dedup key another job holds is not written: the answer says {@link Enqueued#duplicate()} and is about
 * that job, and the transaction goes on ({@link DedupMode}). A duplicate is no error.
 *
 * <p>Blocks for one round trip per 1,000 jobs, or per 8 MiB of payloads; with dedup keys one more per 10,000 jobs of the
 * call and one more per 1,000 duplicates, and as long as another open transaction holds one of the keys. Safe for use by many threads, each with its
 * own connection.
 *
 * <p>What can be refused is refused with {@link InvalidUseException} before any SQL, so the caller's transaction is
 * never poisoned (promise P15): a null, unserialisable or oversized payload, one that has fields of which none would be
 * written, a payload type without a kind, two payload types with one kind, a connection that is closed, read-only or in
 * autocommit mode. A dedup key under another isolation than READ COMMITTED is refused by the statement itself, without an
 * error of the server and without a row. A transaction made read-only by SQL behind the driver's back is the server's
 * error.
 */
public interface Outbox {
    /**
     * Writes one job of the kind that the payload's class names, due at once, in queue {@code default}.
     *
     * @param connection the caller's connection with an open transaction
     * @param payload the payload; its class has {@link Kind}
     * @return the row written, or the job it is a duplicate of
     * @throws InvalidUseException if refused; nothing was written
     * @throws DatabaseException if the server refused the insert
     */
    default Enqueued enqueue(Connection connection, Object payload) {
        return enqueue(connection, payload, options -> {});
    }

    /**
     * Writes one job of the kind that the payload's class names.
     *
     * @param connection the caller's connection with an open transaction
     * @param payload the payload; its class has {@link Kind}
     * @param options fills in time, queue, priority, subject, headers
     * @return the row written, or the job it is a duplicate of
     * @throws InvalidUseException if refused; nothing was written
     * @throws DatabaseException if the server refused the insert
     */
    default Enqueued enqueue(Connection connection, Object payload, Consumer<JobOptions> options) {
        return enqueueAll(connection, List.of(JobRequest.of(payload, options))).get(0);
    }

    /**
     * Writes one job of a kind given by hand.
     *
     * @param connection the caller's connection with an open transaction
     * @param kind the kind
     * @param payload the payload
     * @param options fills in time, queue, priority, subject, headers
     * @param <T> the type of the payload
     * @return the row written, or the job it is a duplicate of
     * @throws InvalidUseException if refused; nothing was written
     * @throws DatabaseException if the server refused the insert
     */
    default <T> Enqueued enqueue(Connection connection, JobKind<T> kind, T payload, Consumer<JobOptions> options) {
        return enqueueAll(connection, List.of(JobRequest.of(kind, payload, options)))
                .get(0);
    }

    /**
     * Writes many jobs, in this order, in as few statements as bounds allow. All are checked and serialised before the
     * first is written; their payloads stay in memory until the call returns. Several with one kind and dedup key count as
     * if written one after the other.
     *
     * @param connection the caller's connection with an open transaction
     * @param requests the jobs; may be empty
     * @return the rows written, or the jobs they are duplicates of, in the order of the requests
     * @throws InvalidUseException if any of them is refused; then none was written
     * @throws DatabaseException if the server refused the insert
     */
    List<Enqueued> enqueueAll(Connection connection, List<? extends JobRequest<?>> requests);
}
