package io.rowlock.internal.lease;

import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.time.Duration;
import java.util.List;

/** What tries again and again to get leases, and works under them. */
interface Contender {
    /** Tells what works to end, and takes nothing more. */
    void ask();

    /** Asks; interrupts after the grace period; true if nothing works any more. */
    boolean stop(Duration grace);

    /** Whether something works under it. */
    boolean works(HeldLease lease);

    /** The loops that fail. */
    List<FailingLoop> failing();
}
