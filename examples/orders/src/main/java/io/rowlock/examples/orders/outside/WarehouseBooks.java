package io.rowlock.examples.orders.outside;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the warehouse remembers: what is on its shelves, and what was taken by which key. Safe for use by many threads. */
public final class WarehouseBooks {
    /** Of each product, at first. */
    public static final int STOCK = 9_999;

    private final Map<String, Integer> shelves = new HashMap<>();
    private final Map<String, Taken> taken = new LinkedHashMap<>();
    private final Set<String> putBack = new HashSet<>();
    private final Map<String, Integer> calls = new HashMap<>();

    /**
     * Goods taken for an order.
     *
     * @param goods how many of each product
     * @param putBack whether they are on the shelf again
     */
    public record Taken(long order, Map<String, Integer> goods, boolean putBack) {
        public Taken {
            goods = Map.copyOf(goods);
        }
    }

    /** Counts a call: 1 for the first under its key. */
    synchronized int call(String key) {
        return calls.merge(key, 1, Integer::sum);
    }

    /** Takes all goods from the shelves, unless that was done under this key before; false if some are not there. */
    synchronized boolean take(String key, long order, Map<String, Integer> goods) {
        if (taken.containsKey(key)) {
            return true;
        }
        if (putBack.contains(key)
                || goods.entrySet().stream().anyMatch(each -> each.getValue() > left(each.getKey()))) {
            return false;
        }
        goods.forEach((product, quantity) -> shelves.put(product, left(product) - quantity));
        taken.put(key, new Taken(order, goods, false));
        return true;
    }

    /** Puts back what was taken by the key, and remembers not to take it later. */
    synchronized void putBack(String key) {
        putBack.add(key);
        taken.computeIfPresent(key, (same, goods) -> onShelfAgain(goods));
    }

    /** A clerk puts back all that was taken for an order. */
    public synchronized void putBackByHand(long order) {
        taken.replaceAll((key, goods) -> goods.order() == order ? onShelfAgain(goods) : goods);
    }

    private Taken onShelfAgain(Taken goods) {
        if (!goods.putBack()) {
            goods.goods().forEach((product, quantity) -> shelves.put(product, left(product) + quantity));
        }
        return new Taken(goods.order(), goods.goods(), true);
    }

    /** How many of a product are on the shelf. */
    public synchronized int left(String product) {
        return shelves.getOrDefault(product, STOCK);
    }

    /** The products that were ever taken. */
    public synchronized Set<String> products() {
        return Set.copyOf(shelves.keySet());
    }

    /** All that was taken; for an order more than once is once too often. */
    public synchronized List<Taken> taken() {
        return List.copyOf(taken.values());
    }

    /** All calls that asked for goods. */
    public synchronized int calls() {
        return calls.values().stream().mapToInt(Integer::intValue).sum();
    }
}
