package io.rowlock.lease;

import java.time.Duration;

/** The time for which a task leads, or works on its part. Safe for use by many threads. */
public interface Term extends Fence {
    /**
     * Whether to go on: the lease is held, and nobody asks for it. Asks no database. The task looks before each unit of work and
     * returns when it is false, after what it has begun; only then the lease is given back. Once false, never true again.
     *
     * @return false when the lease is lost, this process stops, or a part is to be handed over
     */
    boolean goesOn();

    /**
     * Whether the lease is held. While {@link #goesOn} is false and this true, what was begun may be ended.
     *
     * @return false when it is lost
     */
    boolean isHeld();

    /**
     * Throws unless {@link #isHeld}.
     *
     * @throws io.rowlock.error.LeaseLostException if it is lost; says why
     */
    void check();

    /**
     * For how long the lease is held at least if no renewal succeeds from now on.
     *
     * @return zero when it is lost
     */
    Duration left();
}
