package io.rowlock.hibernate;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a wake-up needs of the jobs of a transaction: the earliest of each lane. Small however many jobs there are. */
final class EarliestByLane {
    private record Lane(String queue, String kind, Priority priority) {}

    private final Map<Lane, Enqueued> earliest = new HashMap<>();

    void add(Collection<Enqueued> written) {
        for (Enqueued job : written) {
            earliest.merge(
                    new Lane(job.queue(), job.kind(), job.priority()),
                    job,
                    (known, other) -> other.runAt().isBefore(known.runAt()) ? other : known);
        }
    }

    List<Enqueued> take() {
        List<Enqueued> taken = new ArrayList<>(earliest.values());
        earliest.clear();
        return taken;
    }
}
