package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitKey;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Of which limit keys with parked jobs the next window of their rate begins when. Not for several threads at once. */
final class LimitWindows {
    /** More than these wait for a sweep. */
    private static final int MOST = 10_000;

    private final Map<LimitKey, Long> begins = new HashMap<>();
    private long first;

    /** @param at nanoTime */
    void add(LimitKey key, long at) {
        if (begins.size() < MOST || begins.containsKey(key)) {
            begins.put(key, at);
            first = begins.size() == 1 || at - first < 0 ? at : first;
        }
    }

    /** Takes out those whose window has begun, at most so many. */
    Set<LimitKey> begun(long now, int most) {
        Set<LimitKey> begun = new TreeSet<>();
        if (pause(now) > 0) {
            return begun;
        }
        Iterator<Map.Entry<LimitKey, Long>> all = begins.entrySet().iterator();
        while (all.hasNext() && begun.size() < most) {
            Map.Entry<LimitKey, Long> each = all.next();
            if (each.getValue() - now <= 0) {
                begun.add(each.getKey());
                all.remove();
            }
        }
        first = begins.values().stream().reduce((a, b) -> a - b < 0 ? a : b).orElse(now);
        return begun;
    }

    /** In how long the first begins; Long.MAX_VALUE if there is none. */
    long pause(long now) {
        return begins.isEmpty() ? Long.MAX_VALUE : Math.max(0, first - now);
    }
}
