package io.rowlock.internal.checkup;

import java.util.Set;

/**
 * What one worker of this Rowlock does.
 *
 * @param kinds the kinds it has handlers for
 * @param queues the queues it serves
 */
public record Serving(Set<String> kinds, Set<String> queues) {
    public Serving {
        kinds = Set.copyOf(kinds);
        queues = Set.copyOf(queues);
    }

    boolean does(String queue, String kind) {
        return kinds.contains(kind) && queues.contains(queue);
    }
}
