package io.rowlock.internal.engine;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The jobs whose leases this worker holds: from the claim until the outcome is recorded or the lease is lost. What the
 * heartbeat keeps alive, and what the stop hands back. Not a queue and not a record: the rows are.
 */
final class InFlight {
    private final Map<LeasedJob, Boolean> jobs = new ConcurrentHashMap<>();

    void add(LeasedJob job) {
        jobs.put(job, true);
    }

    /** True if it was here. */
    boolean letGo(LeasedJob job) {
        return jobs.remove(job) != null;
    }

    /** A live view. */
    Collection<LeasedJob> all() {
        return jobs.keySet();
    }
}
