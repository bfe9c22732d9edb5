package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Due jobs with keys whose rows other transactions hold locked. They are not looked at for a while, so that they take no
 * slot and no place in a scan from others. A hint in memory: who is not in it is tried, and found to be locked again. For
 * the claimer's thread.
 */
final class LockedRows {
    private static final int MOST = 10_000;
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);
    private static final long FORGOTTEN_AFTER = TimeUnit.SECONDS.toNanos(10);

    private final Map<Long, Avoided> rows = new HashMap<>();

    /** Until when a row is avoided, and how long that was; its place in its lane, null if it was not found in one. */
    private record Avoided(long until, long pause, @Nullable Place place) {}

    /** Where a row was found. */
    record Place(Lane lane, Instant runAt) {}

    /** The rows to avoid now. */
    List<Long> avoided() {
        long now = System.nanoTime();
        rows.values().removeIf(row -> now - row.until() > FORGOTTEN_AFTER);
        List<Long> ids = new ArrayList<>();
        rows.forEach((id, row) -> {
            if (row.until() - now > 0) {
                ids.add(id);
            }
        });
        return ids;
    }

    /** Whether the row was avoided before, now or not long ago. */
    boolean knows(long id) {
        return rows.containsKey(id);
    }

    /** Avoids a row: first for 20 ms, each time for twice as long, for a second at most. */
    void avoid(long id, @Nullable Place place) {
        if (rows.size() >= MOST && !knows(id)) {
            return; // then it is tried each time
        }
        Avoided before = rows.get(id);
        long pause = before == null ? SHORTEST : Math.min(LONGEST, before.pause() * 2);
        rows.put(id, new Avoided(System.nanoTime() + pause, pause, place));
    }

    /** The first run_at of the rows of each lane: its watermark may be no higher. */
    Map<Lane, Instant> first() {
        Map<Lane, Instant> first = new HashMap<>();
        for (Avoided row : rows.values()) {
            Place place = row.place();
            if (place != null) {
                first.merge(place.lane(), place.runAt(), (one, other) -> one.isBefore(other) ? one : other);
            }
        }
        return first;
    }

    /** In how many nanoseconds a row is to be looked at again; Long.MAX_VALUE if none is avoided. */
    long pause() {
        long now = System.nanoTime();
        return rows.values().stream()
                .mapToLong(row -> row.until() - now)
                .filter(left -> left > 0)
                .min()
                .orElse(Long.MAX_VALUE);
    }
}
