package io.rowlock.lease;

import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.util.List;

/**
 * How the leases of this process are.
 *
 * @param held how many it holds
 * @param loops the loops that fail now, with the reason: renewal, leaders, partitions; empty when all is well
 */
public record LeasesHealth(int held, List<FailingLoop> loops) {
    public LeasesHealth {
        loops = List.copyOf(loops);
    }

    /**
     * Whether no loop fails.
     *
     * @return false while the database cannot be reached or used, or a task keeps failing
     */
    public boolean up() {
        return loops.isEmpty();
    }
}
