package io.rowlock.examples.orders.outside;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the bank remembers: charges and refunds by idempotency key, and all calls. Safe for use by many threads. */
public final class BankBooks {
    private final Map<String, Charge> charges = new LinkedHashMap<>();
    private final Set<String> refunded = new HashSet<>();
    private final Map<String, Integer> calls = new HashMap<>();
    private int repeats;

    /**
     * Money that was taken from a card.
     *
     * @param refunded whether it went back
     */
    public record Charge(long order, BigDecimal amount, boolean refunded) {}

    /** Counts a call: 1 for the first under its key. */
    synchronized int call(String key) {
        return calls.merge(key, 1, Integer::sum);
    }

    /** Takes the money, unless it was taken under this key before; false if that key was refunded. */
    synchronized boolean charge(String key, long order, BigDecimal amount) {
        if (refunded.contains(key)) {
            return false;
        }
        if (charges.putIfAbsent(key, new Charge(order, amount, false)) != null) {
            repeats++;
        }
        return true;
    }

    /** Gives back what was taken under the key, and remembers not to take it later. */
    synchronized void refund(String key) {
        refunded.add(key);
        charges.computeIfPresent(key, (same, charge) -> new Charge(charge.order(), charge.amount(), true));
    }

    /** A clerk gives back all that was taken for an order. */
    public synchronized void refundByHand(long order) {
        charges.replaceAll(
                (key, charge) -> charge.order() == order ? new Charge(order, charge.amount(), true) : charge);
    }

    /** All charges; more than one for an order is one too many. */
    public synchronized List<Charge> charges() {
        return List.copyOf(charges.values());
    }

    /** All calls. */
    public synchronized int calls() {
        return calls.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Charges that were asked for again after they were made. */
    public synchronized int repeats() {
        return repeats;
    }
}
