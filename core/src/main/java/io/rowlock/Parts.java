package io.rowlock;

import io.rowlock.event.RowlockListener;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.spi.RowlockParts;

/** The parts of one Rowlock, as its builder and constructor made them. */
record Parts(
        ConnectionSource connections,
        String schema,
        String prefix,
        PayloadCodec codec,
        int maxPayloadBytes,
        RowlockListener listener,
        AccessPolicy access,
        Runnable lookAgain)
        implements RowlockParts {
    @Override
    public void wake() {
        lookAgain.run();
    }
}
