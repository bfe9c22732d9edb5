package io.rowlock.event;

/**
 * Told what happens, after it was recorded. Called by engine threads and handler threads, many at once; must be quick.
 * What it throws is logged and goes no further (promise P10).
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
