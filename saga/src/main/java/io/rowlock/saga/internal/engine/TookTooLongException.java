package io.rowlock.saga.internal.engine;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** An attempt did not return in time; its thread may still run. */
final class TookTooLongException extends TimeoutException {
    private static final long serialVersionUID = 1L;

    private final Duration lease;

    /** @param lease for how long that thread may take itself for the one that has the saga */
    TookTooLongException(Duration limit, Duration lease) {
        super("took longer than its timeout of " + limit);
        this.lease = lease;
    }

    Duration lease() {
        return lease;
    }
}
