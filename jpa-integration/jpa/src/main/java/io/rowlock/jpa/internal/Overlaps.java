package io.rowlock.jpa.internal;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Two annotations of one method or type with one kind must not be about the same change: that would be two jobs. */
final class Overlaps {
    private record Use(Change change, String kind, Class<?> payload) {}

    private final Map<Use, String> seen = new HashMap<>();
    private final Problems problems;

    Overlaps(Problems problems) {
        this.problems = problems;
    }

    /** @param kind the kind's name, given or by the payload's type */
    void add(String where, OutboxJob job, String kind, Set<Change> on) {
        for (Change change : on) {
            String other = seen.putIfAbsent(new Use(change, kind, job.payload()), where);
            if (other != null) {
                problems.add(
                        where,
                        "is of the same kind as " + other + ", and both are about " + change
                                + ", which would write two jobs; merge them into one, or give one another kind");
            }
        }
    }
}
