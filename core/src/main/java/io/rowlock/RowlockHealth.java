package io.rowlock;

import io.rowlock.lease.LeasesHealth;
import io.rowlock.worker.WorkerHealth;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How all that one {@link Rowlock} runs in this process is.
 *
 * @param workers how each worker is that was made and has not stopped, by its {@link io.rowlock.worker.Worker#id id}, in the order in
 *     which they were made
 * @param leases how its leases, leaders and partitions are
 */
public record RowlockHealth(Map<String, WorkerHealth> workers, LeasesHealth leases) {
    public RowlockHealth {
        workers = Collections.unmodifiableMap(new LinkedHashMap<>(workers));
    }

    /**
     * Whether all of it does its work.
     *
     * @return false while a worker does not run, or a loop fails
     */
    public boolean up() {
        return leases.up() && workers.values().stream().allMatch(WorkerHealth::up);
    }
}
