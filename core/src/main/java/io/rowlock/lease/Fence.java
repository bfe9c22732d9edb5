package io.rowlock.lease;

import java.sql.Connection;

/**
 * Refuses late writes. A holder that was stopped for longer than its lease does not know that it is none any more; the row of the
 * lease does. Safe for use by many threads, each with a connection of its own.
 */
public interface Fence {
    /**
     * The lease.
     *
     * @return its name
     */
    String name();

    /**
     * The fencing token: greater than that of every holder before, for as long as the name is used, also when its row was
     * deleted in between. For stores outside of this database, which refuse a smaller one than they have seen.
     *
     * @return the token
     */
    long token();

    /**
     * Makes the caller's transaction one that can commit under this token only: checks that the lease is held under it now, by
     * the database's clock, and locks its row {@code FOR KEY SHARE}. Until the transaction ends nobody else can take the lease,
     * even when it runs out meanwhile; the holder's renewals go on. Call it first, then write. One statement; waits for one that
     * is taking the lease, at most for the transaction's own {@code lock_timeout}. A crash rolls all of it back.
     *
     * @param connection in a transaction, READ COMMITTED, on the database of the leases; that of an EntityManager, too
     * @throws io.rowlock.error.LeaseLostException if the lease was taken by another, released or revoked, or has run out; nothing
     *     is locked, and the transaction must be rolled back
     * @throws io.rowlock.error.InvalidUseException if the connection is null, closed, read-only or in autocommit, or its
     *     transaction is not READ COMMITTED; the transaction is as it was
     * @throws io.rowlock.error.DatabaseException if the server refused it, or the lock could not be had in time
     */
    void fence(Connection connection);
}
