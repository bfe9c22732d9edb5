package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.LimitSql.LockedLimit;
import io.rowlock.internal.sql.LimitSql.Room;
import io.rowlock.internal.sql.LimitSql.Share;
import io.rowlock.internal.sql.LimitSql.Spent;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The limits that one round of claims has locked: what they have left, and what the round takes of it. */
final class LimitRooms {
    private final Map<LimitKey, Left> limits = new TreeMap<>();

    private static final class Left {
        private final LockedLimit limit;
        private final Room room;
        private final int before;
        private int runs;
        private int jobs;
        private boolean parks;

        Left(LockedLimit limit, Room room, int before) {
            this.limit = limit;
            this.room = room;
            this.before = before;
        }

        boolean changes() {
            boolean takesTokens = room.tokens() != null && jobs > 0;
            boolean takesSlots = room.slots() != null && before + runs > room.held();
            return parks || takesTokens || takesSlots;
        }

        int slots() {
            return room.slots() == null ? Integer.MAX_VALUE : room.slots() - before - runs;
        }

        int tokens() {
            return room.tokens() == null ? Integer.MAX_VALUE : room.tokens() - jobs;
        }

        Share share() {
            Integer held = room.slots() == null ? null : Math.max(before + runs, room.held());
            return new Share(limit, held, false, new Spent(room.tokens() == null ? 0 : jobs, room.window()), parks);
        }
    }

    /**
     * Adds a limit that is locked.
     *
     * @param before how many runs of it this worker has already
     */
    void add(LockedLimit limit, Room room, int before) {
        limits.put(limit.key(), new Left(limit, room, before));
    }

    /** Whether it is locked, so that something may be taken of it or parked; true for null, which is no limit. */
    boolean isLocked(@Nullable LimitKey key) {
        return key == null || limits.containsKey(key);
    }

    /** The window of its rate in which jobs count now, or null if it has none. */
    @Nullable
    Instant window(@Nullable LimitKey key) {
        Left left = key == null ? null : limits.get(key);
        return left == null || left.room.tokens() == null ? null : left.room.window();
    }

    /** In how long the next window begins of those limits of which jobs are parked and this one is used up. */
    Map<LimitKey, Duration> waitForWindows() {
        Map<LimitKey, Duration> endsIn = new HashMap<>();
        limits.forEach((key, left) -> {
            Duration rest = left.room.endsIn();
            if (rest != null && left.tokens() <= 0 && (left.parks || left.limit.parked())) {
                endsIn.put(key, rest);
            }
        });
        return endsIn;
    }

    /** Whether jobs of it were parked before this round. */
    boolean hasParked(@Nullable LimitKey key) {
        Left left = key == null ? null : limits.get(key);
        return left != null && left.limit.parked();
    }

    /** How many jobs one run of it may have now; zero if there is no room for a run. */
    int longestRun(@Nullable LimitKey key) {
        Left left = key == null ? null : limits.get(key);
        if (left == null) {
            return key == null ? Integer.MAX_VALUE : 0;
        }
        return left.slots() > 0 ? Math.max(0, left.tokens()) : 0;
    }

    /** Takes room for a run of so many jobs. */
    void take(@Nullable LimitKey key, int jobs) {
        Left left = key == null ? null : limits.get(key);
        if (left != null) {
            left.runs++;
            left.jobs += jobs;
        }
    }

    /** Forgets what was taken: the rows that were to be claimed were locked by others, or some of them. */
    void takeBack() {
        limits.values().forEach(left -> {
            left.runs = 0;
            left.jobs = 0;
        });
    }

    /** A job is parked as this limit is full. */
    void park(@Nullable LimitKey key) {
        Left left = key == null ? null : limits.get(key);
        if (left != null) {
            left.parks = true;
        }
    }

    /** What changes by this round; a slot that is held already is taken again without a word. */
    List<Share> shares() {
        return limits.values().stream().filter(Left::changes).map(Left::share).toList();
    }
}
