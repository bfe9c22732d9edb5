package io.rowlock.lease;

import java.time.Duration;

/**
 * A named lease that this process holds: it is renewed at a third of its time to live, by a thread and over a connection of
 * Rowlock's own, until it is released or lost. It is lost when its row was taken or revoked, and at the latest when its time to
 * live has passed since the last renewal that the database answered was <em>sent</em>, by this process's monotonic clock: so a
 * holder that cannot reach the database stops by itself, no later than another can begin. What writes goes through {@link #fence}
 * all the same, as a process may stand still between a look at {@link #isHeld} and its write. Safe for use by many threads.
 */
public interface Lease extends Fence, AutoCloseable {
    /**
     * Who holds it.
     *
     * @return this process's name, which no other start of any process has
     */
    String holder();

    /**
     * Whether it is held, as far as this process can know. Asks no database. Once false, never true again.
     *
     * @return false when it is lost or released
     */
    boolean isHeld();

    /**
     * For how long it is held at least if no renewal succeeds from now on.
     *
     * @return zero when it is lost or released
     */
    Duration left();

    /**
     * Throws unless {@link #isHeld}.
     *
     * @throws io.rowlock.error.LeaseLostException if it is lost or released; says why
     */
    void check();

    /**
     * Calls something once when the lease is lost, on a thread of its own; at once if it is lost already; never if it was released
     * before it was lost. What it throws is logged.
     *
     * @param call what to call
     * @return this
     * @throws io.rowlock.error.InvalidUseException if null
     */
    Lease onLost(Runnable call);

    /**
     * Gives it back: another can take it at once, as soon as no transaction holds its fence. Does nothing when it is lost or
     * released. One short transaction of its own; if it fails, the lease is no longer renewed and runs out by itself.
     *
     * @return true if it was held until now
     */
    boolean release();

    /** The same as {@link #release}. */
    @Override
    default void close() {
        release();
    }
}
