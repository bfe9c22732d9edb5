package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.LimitSql.Spent;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What jobs of limit keys that were claimed and did not begin have taken of a rate, until it is given back: together, a
 * little later, as heads that fail often do so one after the other. Not for several threads at once.
 */
final class UnusedTokens {
    private final long delayNanos;
    private final Map<LimitKey, Spent> back = new HashMap<>();
    private long since;

    UnusedTokens(long delayNanos) {
        this.delayNanos = delayNanos;
    }

    /** Adds what is to be given back; of an earlier window nothing is of use any more. */
    void add(LimitKey key, Spent tokens) {
        if (back.isEmpty()) {
            since = System.nanoTime();
        }
        back.merge(
                key,
                tokens,
                (before, more) -> Objects.equals(before.window(), more.window())
                        ? new Spent(before.tokens() + more.tokens(), more.window())
                        : more);
    }

    boolean isEmpty() {
        return back.isEmpty();
    }

    boolean has(LimitKey key) {
        return back.containsKey(key);
    }

    /** Takes out that of at most so many limit keys. */
    Map<LimitKey, Spent> take(int most) {
        Map<LimitKey, Spent> some = new HashMap<>();
        back.entrySet().stream().limit(most).forEach(each -> some.put(each.getKey(), each.getValue()));
        back.keySet().removeAll(some.keySet());
        return some;
    }

    /** In how long it is to be given back; Long.MAX_VALUE if there is nothing. */
    long pause(long now) {
        return back.isEmpty() ? Long.MAX_VALUE : Math.max(0, since + delayNanos - now);
    }
}
