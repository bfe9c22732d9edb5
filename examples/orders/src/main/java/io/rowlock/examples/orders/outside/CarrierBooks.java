package io.rowlock.examples.orders.outside;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What the carrier remembers: the shipments it was asked for, by key. Safe for use by many threads. */
public final class CarrierBooks {
    private final Set<String> served = new HashSet<>();
    private final Map<Long, Integer> deliveries = new HashMap<>();
    private final Set<Long> routes = new HashSet<>();
    private final Map<String, Integer> calls = new HashMap<>();

    /** Counts a call: 1 for the first under its key. */
    synchronized int call(String key) {
        return calls.merge(key, 1, Integer::sum);
    }

    /** Delivers, unless this key was served before. */
    synchronized boolean deliver(String key, long order) {
        boolean isNew = served.add(key);
        if (isNew) {
            deliveries.merge(order, 1, Integer::sum);
        }
        return isNew;
    }

    synchronized boolean goesTo(long order) {
        return routes.contains(order);
    }

    /** The carrier agrees to take an order wherever it goes. */
    public synchronized void agreeTo(long order) {
        routes.add(order);
    }

    /** How many deliveries were made for each order; more than one is one too many. */
    public synchronized Map<Long, Integer> deliveries() {
        return Map.copyOf(deliveries);
    }

    /** All calls. */
    public synchronized int calls() {
        return calls.values().stream().mapToInt(Integer::intValue).sum();
    }
}
