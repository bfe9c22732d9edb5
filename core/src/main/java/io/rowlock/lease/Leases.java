package io.rowlock.lease;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Named leases with fencing tokens: at most one holder of a name at a time, by the database's clock. Each is a row, made when it
 * is taken first. Statements run in short transactions of their own, READ COMMITTED whatever the default, and depend on nothing
 * of a session, so that they work through a pooler in transaction mode too. From the first lease on two threads of this Rowlock
 * keep them, and while one is held a connection. Safe for use by many threads.
 *
 * <p>A crash leaves the rows as they are: each lease can be taken when its time to live is over, and only by that; no list of
 * processes is asked. A process that starts again under the same name is another holder.
 */
public interface Leases {
    /** The time to live unless said otherwise: 30 s. */
    Duration TIME_TO_LIVE = Duration.ofSeconds(30);

    /**
     * The same as {@link #tryTake(String, Duration)} with {@link #TIME_TO_LIVE}.
     *
     * @param name the lease
     * @return the lease, or empty if it is held
     */
    default Optional<Lease> tryTake(String name) {
        return tryTake(name, TIME_TO_LIVE);
    }

    /**
     * Takes a lease if nobody holds it: raises its token, and writes who and when to its history. If it has run out while a
     * transaction still holds its fence, waits for that at most a third of the time to live (5 s at most), and answers empty then.
     * Not re-entrant: held by this process is held.
     *
     * @param name 1 to 200 characters, the same in all processes
     * @param timeToLive 1 s to 1 day: how long after a crash until another can take it; three times as long as a renewal may take
     * @return the lease, renewed from now on; or empty if it is held
     * @throws InvalidUseException if the name or the time is not allowed, before any SQL; or Rowlock has no data source
     * @throws DatabaseException if the database cannot be reached or refused it. If its answer was lost, the lease may be taken
     *     until its time to live is over
     */
    Optional<Lease> tryTake(String name, Duration timeToLive);

    /**
     * The same, and waits until it is free; tries once a second, or more often where the time to live is short.
     *
     * @param name the lease
     * @param timeToLive as for {@link #tryTake(String, Duration)}
     * @param atMost how long to wait, 0 or more
     * @return the lease, or empty if it was held all the time
     * @throws InvalidUseException as for {@link #tryTake(String, Duration)}
     * @throws DatabaseException as for {@link #tryTake(String, Duration)}
     * @throws InterruptedException if interrupted; nothing is held then
     */
    Optional<Lease> take(String name, Duration timeToLive, Duration atMost) throws InterruptedException;

    /**
     * A fence for work that was handed to another thread or process together with name and token.
     *
     * @param name the lease
     * @param token the token it was taken under
     * @return the fence; sends no SQL by itself
     * @throws InvalidUseException if the name is not allowed
     */
    Fence fence(String name, long token);

    /**
     * The row of a lease.
     *
     * @param name the lease
     * @return empty if it was never taken, or its row was pruned
     * @throws InvalidUseException if the name is not allowed
     * @throws DatabaseException if the server refused it
     */
    Optional<LeaseView> find(String name);

    /**
     * A page of all leases, in the order of their names as the database sorts them.
     *
     * @param after the last name of the page before, or an empty text for the first page
     * @param most 1 to 1,000
     * @return at most so many; fewer: there are no more
     * @throws InvalidUseException if out of range
     * @throws DatabaseException if the server refused it
     */
    List<LeaseView> all(String after, int most);

    /**
     * Who held a lease when, the newest first. Kept for {@link io.rowlock.worker.Retention#leases} after its end.
     *
     * @param name the lease
     * @param most 1 to 1,000
     * @return at most so many
     * @throws InvalidUseException if out of range
     * @throws DatabaseException if the server refused it
     */
    List<Holding> history(String name, int most);

    /**
     * Takes a lease away from its holder, which notices at its next renewal; its writes through the fence are refused at once.
     * A transaction that had passed the fence before goes on, and may still commit: nobody can take the lease before it has ended.
     * Waits for none. Written to {@code rowlock_operation} in the same transaction.
     *
     * @param name the lease
     * @param by who does it, and why
     * @return false if nobody holds it; nothing is written then
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it, before any SQL
     * @throws DatabaseException if the server refused it
     */
    boolean revoke(String name, By by);

    /**
     * How the leases, leaders and partitions of this Rowlock are.
     *
     * @return as of now; asks no database
     */
    LeasesHealth health();

    /**
     * Stops what holds leases of this Rowlock, before its data source is closed: leaders and members of partitions are told to end
     * ({@link Term#goesOn} is false) and interrupted after the grace period; then all leases are released but those whose task still
     * runs: these are kept up until it ends. What takes a lease afterwards is a new beginning.
     *
     * @param grace 0 or more
     * @return true if every task has ended
     * @throws InvalidUseException if null or negative
     */
    boolean stop(Duration grace);
}
