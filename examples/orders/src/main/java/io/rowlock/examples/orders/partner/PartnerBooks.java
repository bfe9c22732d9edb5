package io.rowlock.examples.orders.partner;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the partner remembers: every key it has served, every order it delivers, every call. In memory, as the partner
 * is only here for the demo. Safe for use by many threads.
 */
public final class PartnerBooks {
    private final Set<String> served = new HashSet<>();
    private final Map<Long, Integer> effects = new HashMap<>();
    private final Map<Long, Integer> calls = new HashMap<>();
    private int repeats;

    /** Counts a call about an order: 1 for the first. */
    synchronized int call(long order) {
        return calls.merge(order, 1, Integer::sum);
    }

    /** Arranges a delivery, unless this key was served before. */
    synchronized void deliver(String key, long order) {
        if (served.add(key)) {
            effects.merge(order, 1, Integer::sum);
        } else {
            repeats++;
        }
    }

    /** How many deliveries were arranged for each order; more than one is one too many. */
    public synchronized Map<Long, Integer> effects() {
        return Map.copyOf(effects);
    }

    /** All calls. */
    public synchronized int calls() {
        return calls.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Calls with a key that had been served. */
    public synchronized int repeats() {
        return repeats;
    }
}
