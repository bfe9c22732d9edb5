package io.rowlock.lease;

import java.sql.Connection;
import java.time.Duration;

/**
 * The short version of a leader: an advisory lock on a session of the server that this keeps for itself. There is no row, no time
 * to live and no token: whoever has the lock leads until its session ends, and when that is killed, another can lead at once. A
 * look at the session, once a second, notices this within {@link #NOTICED_WITHIN}; until then two may believe to lead. So what
 * must not be written by both goes through {@link #withLeaderSession}, whose transaction dies with the lock; or use a {@link
 * Leader}, which has a fence. Safe for use by many threads; all of a process together lead or do not.
 *
 * <p>The lock belongs to a session, so a pooler in transaction mode makes nonsense of it: it is looked for, and refused, whenever
 * the session is opened, over a second connection beside it; where none can be had nobody leads. Nor does anybody on a standby, whose
 * locks are its own. Two processes that call the same name on one database with the same tables compete.
 */
public interface AdvisoryLeader extends AutoCloseable {
    /** Within this time after its session is gone a leader knows, also when the network swallows everything: 4 s. */
    Duration NOTICED_WITHIN = Duration.ofSeconds(4);

    /** What is done while leading. */
    @FunctionalInterface
    interface Work {
        /**
         * Does a unit of work.
         *
         * @throws Exception anything; goes up to the caller
         */
        void run() throws Exception;
    }

    /** What is written while leading. */
    @FunctionalInterface
    interface Writing {
        /**
         * Writes.
         *
         * @param session the leader's own session, in a transaction that is committed afterwards; refuses what would end it
         * @throws Exception anything; rolls back, and goes up to the caller
         */
        void over(Connection session) throws Exception;
    }

    /**
     * The key of the lock, made from the name and the place of the tables: what {@code pg_locks} shows.
     *
     * @return all 64 bits are used
     */
    long key();

    /**
     * Leads, if nobody else does. Asks the server, on the session that is kept; opens one if there is none, or it is gone. Blocks for
     * seconds at most, but for a {@link #withLeaderSession} that is going on.
     *
     * @return true if this process leads now, or did already; false if another leads, or {@link #release} was called meanwhile
     * @throws io.rowlock.error.InvalidUseException if there is a pooler in transaction mode in between; says what to do
     * @throws io.rowlock.error.DatabaseException if the server cannot be reached or refuses, is a standby, or no second connection can
     *     be had; this process does not lead then
     */
    boolean tryAcquire();

    /**
     * Whether this process leads, as far as it knows; asks nobody. Looked at by a thread once a second.
     *
     * @return false within {@link #NOTICED_WITHIN} after the session is gone
     */
    boolean leads();

    /**
     * Runs a unit of work if this process leads, or can: acquires the lock if need be, else asks the server on the very session
     * whether it is still there. The calling thread is interrupted if the session is lost while the work runs, and that interrupt is
     * taken back at the end of the work. Lets others lead afterwards if it did not lead before.
     *
     * @param work what to do
     * @return false if another leads; nothing was done then
     * @throws Exception what the work threw
     * @throws io.rowlock.error.LeaseLostException if the session was lost or released while the work ran, though it returned
     * @throws io.rowlock.error.InvalidUseException as for {@link #tryAcquire}
     * @throws io.rowlock.error.DatabaseException as for {@link #tryAcquire}
     */
    boolean withLeaderLock(Work work) throws Exception;

    /**
     * The same, but the work writes over the leader's own session, in one READ COMMITTED transaction: if that session dies, nothing of it
     * is committed, so that no leader of before ever writes beside the next one. Other threads that want to lead wait meanwhile; looks go
     * over another connection, and where none can be had within a second the leadership counts as lost, and the thread is interrupted. A
     * statement may take a minute, and wait a minute for a lock.
     *
     * @param writing what to write; must not end the transaction
     * @return true if it is committed, whatever became of the session since; false if another leads, nothing was done then
     * @throws Exception what the work threw, an error too; rolled back
     * @throws io.rowlock.error.CommitUnknownException if the session was lost at the COMMIT: it may have committed or not
     * @throws io.rowlock.error.InvalidUseException as for {@link #tryAcquire}, and within another writing of the same thread
     * @throws io.rowlock.error.DatabaseException as for {@link #tryAcquire}, or if it was not committed: its session was lost before, or a
     *     statement has failed, though the work may have hidden that
     */
    boolean withLeaderSession(Writing writing) throws Exception;

    /**
     * Calls something each time the session is lost while this process leads, on a thread of its own, once for each loss; not on
     * release.
     *
     * @param call what to call
     * @return this
     * @throws io.rowlock.error.InvalidUseException if null
     */
    AdvisoryLeader onLost(Runnable call);

    /**
     * Lets others lead, and gives the session back: at once, or, while work runs under the lock, when that has ended; {@link #leads} is
     * false at once. Neither waits for that nor interrupts it ({@link Leases#stop} does, after its grace period); sends at most three
     * statements. Does nothing if this process does not lead. Never throws for a session that is gone: the lock went with it.
     */
    void release();

    /** The same as {@link #release}. */
    @Override
    default void close() {
        release();
    }
}
