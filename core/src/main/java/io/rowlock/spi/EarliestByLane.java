package io.rowlock.spi;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a wake-up needs of the jobs of a transaction: the earliest of each lane, with and without keys. Small however
 * many jobs there are, so that an adapter may gather them until the commit. Not safe for use by several threads.
 */
public final class EarliestByLane {
    private record Lane(String queue, String kind, Priority priority, boolean keyed) {}

    private final Map<Lane, Enqueued> earliest = new HashMap<>();

    /** Makes one that has gathered nothing. */
    public EarliestByLane() {}

    /**
     * Adds jobs.
     *
     * @param written the answers of enqueues; may be empty
     */
    public void add(Collection<Enqueued> written) {
        for (Enqueued job : written) {
            earliest.merge(
                    new Lane(job.queue(), job.kind(), job.priority(), job.keyed()),
                    job,
                    (known, other) -> other.runAt().isBefore(known.runAt()) ? other : known);
        }
    }

    /**
     * Of how many lanes there are jobs.
     *
     * @return 0 if nothing was added since the last {@link #take}
     */
    public int lanes() {
        return earliest.size();
    }

    /**
     * Gives what was gathered away, and begins anew.
     *
     * @return the earliest job of each lane, by {@link Enqueued#runAt()}; empty if nothing was added
     */
    public List<Enqueued> take() {
        List<Enqueued> taken = new ArrayList<>(earliest.values());
        earliest.clear();
        return taken;
    }
}
