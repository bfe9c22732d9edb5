package io.rowlock.event;

/**
 * Told what happens, after it was recorded unless the event says otherwise. Called by engine threads, handlers' threads and
 * threads that enqueue, many at once; must be quick, and must not use the transaction of the thread it is called on. What it
 * throws is logged and goes no further (promise P10). Where nobody listens, no event of an attempt is made.
 */
@FunctionalInterface
public interface RowlockListener {
    /**
     * Something happened.
     *
     * @param event what
     */
    void on(RowlockEvent event);
}
