package io.rowlock.internal.engine;

import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.LimitSql;
import io.rowlock.internal.sql.LimitSql.LockedLimit;
import io.rowlock.internal.sql.LimitSql.Room;
import io.rowlock.internal.sql.LimitSql.Share;
import io.rowlock.internal.sql.LimitSql.Spent;
import io.rowlock.internal.sql.PromoteSql;
import io.rowlock.internal.sql.PromoteSql.Promotion;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What this worker holds of limit keys that are limited over all workers.
 */
final class Limits {
    /*
     * A limit key has so many slots, and one run of jobs takes one from its claim until its thread has ended. The rows of
     * slots say, per worker, how many it holds and until when. Invariants:
     * 1. Slots are taken in the transaction of the claim, under the lock of the limit's row. What all workers with time
     *    left hold is no more than the limit, except for a while after the limit was made smaller.
     * 2. A row of slots holds at least as many as this worker has runs of that key: rows are written with what the worker
     *    has, not with differences, so that a statement whose answer was lost may be repeated.
     * 3. A worker's time is longer than the leases of its jobs, and extended by the same thread: when it is over, so are
     *    they (P8).
     *    A worker that stood still for longer reads in its row, or is told, that it has none any more, before it claims.
     * 4. A slot is not freed at once, unless jobs of its key were parked when it was looked at last: the next claim may
     *    need it, and then nothing is written.
     * 5. Jobs of a full key are parked under the lock of the limit's row, and it says so. Whoever frees slots under that
     *    lock makes as many jobs ready. Where slots become free by time alone, and where windows of a rate begin anew, the
     *    sweep does it (P2); where that is seldom, whoever has seen parked jobs does it when the next window begins.
     * 6. Jobs that were claimed and did not begin have used nothing of a rate: what they took is given back to their window,
     *    once at most, as it is forgotten here before it is sent.
     */
    private static final int KEYS = 200;
    private static final long SPARE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long SHORTEST_BUSY = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_BUSY = TimeUnit.SECONDS.toNanos(1);
    private static final Spent NOTHING = new Spent(0, null);
    private static final Duration AHEAD = Duration.ofSeconds(2);

    private final EngineConnection connection;
    private final LimitSql sql;
    private final PromoteSql promotes;
    private final Claimant claimant;
    private final Set<String> kinds;
    private final Map<LimitKey, Held> held = new HashMap<>();
    private final LimitTurns turns = new LimitTurns();
    private volatile Set<String> limited = Set.of();
    private volatile boolean used;
    private volatile long extendedAt = System.nanoTime();
    private final AtomicBoolean stoodStill = new AtomicBoolean();
    private final UnusedTokens unused = new UnusedTokens(SPARE);
    private final LimitWindows windows = new LimitWindows();
    private final boolean sweepsSeldom;
    private long freeAgain = System.nanoTime();
    private long busyPause = SHORTEST_BUSY;

    /** @param sweepsSeldom less than once a second */
    Limits(EngineConnection connection, EngineSql sql, Claimant claimant, Lanes lanes, boolean sweepsSeldom) {
        this.connection = connection;
        this.sql = sql.limits();
        this.promotes = sql.promotes();
        this.claimant = claimant;
        this.kinds = lanes.kinds();
        this.sweepsSeldom = sweepsSeldom;
    }

    /** Guarded by the monitor of its Limits. */
    private static final class Held {
        private int runs;
        private int written;
        private boolean parked;
        private boolean unsure;
        private long spareSince;

        boolean hasSpare() {
            return written > runs;
        }
    }

    /** In these queues limit keys have a limit. */
    void limited(Set<String> queues) {
        limited = Set.copyOf(queues);
    }

    /** Whose turn it is among the levels of limit keys with parked jobs. */
    LimitTurns turns() {
        return turns;
    }

    /** In which queues limit keys have a limit. */
    Set<String> limited() {
        return limited;
    }

    /** The name of a job's limit key in its queue, whether it is limited or not; null if it has none. */
    static @Nullable LimitKey name(String queue, @Nullable String limitKey) {
        return limitKey == null ? null : new LimitKey(queue, limitKey);
    }

    /** The limit that holds for a job with this limit key, or null. */
    @Nullable
    LimitKey of(String queue, @Nullable String limitKey) {
        return limitKey == null || !limited.contains(queue) ? null : new LimitKey(queue, limitKey);
    }

    /** Locks what it can of the limits until the transaction ends, and looks what they have left. */
    LimitRooms lock(Connection open, Collection<LimitKey> keys) throws SQLException {
        LimitRooms rooms = new LimitRooms();
        if (!keys.isEmpty()) {
            List<LockedLimit> locked = sql.lock(open, List.copyOf(new TreeSet<>(keys)));
            List<Room> looked =
                    sql.look(open, locked.stream().map(LockedLimit::key).toList(), claimant.owner());
            for (int i = 0; i < locked.size(); i++) {
                add(rooms, locked.get(i), looked.get(i));
            }
            waitForWindows(rooms);
        }
        return rooms;
    }

    private synchronized void add(LimitRooms rooms, LockedLimit limit, Room room) {
        Held mine = held.get(limit.key());
        if (mine != null) {
            mine.parked = limit.parked();
        }
        rooms.add(limit, room, mine == null ? 0 : mine.runs);
    }

    /** Writes what a round takes; to be called in the transaction that has locked them. */
    void take(Connection open, LimitRooms rooms) throws SQLException {
        waitForWindows(rooms);
        List<Share> shares = rooms.shares();
        if (!shares.isEmpty()) {
            write(open, shares);
        }
    }

    /** Of these limits jobs are parked, and the next window of their rate has room for some. */
    private synchronized void waitForWindows(LimitRooms rooms) {
        if (sweepsSeldom) {
            long now = System.nanoTime();
            rooms.waitForWindows().forEach((key, endsIn) -> windows.add(key, now + endsIn.toNanos()));
        }
    }

    /** Limits of which a window has begun that was waited for, at most so many; each once. */
    synchronized Set<LimitKey> begunWindows(int most) {
        return windows.begun(System.nanoTime(), most);
    }

    /** Its row was locked by somebody. */
    synchronized void triesAgain(LimitKey key) {
        windows.add(key, System.nanoTime() + SPARE);
    }

    private void write(Connection open, List<Share> shares) throws SQLException {
        for (Share share : shares) {
            written(share); // before it commits: if the answer is lost, what is too much is freed again
        }
        take(open, shares);
    }

    /** Writes what this worker has of limits that are locked. */
    void take(Connection open, List<Share> shares) throws SQLException {
        used = true;
        sql.take(open, claimant.owner(), time(), shares);
    }

    /** With the beats of half a lease at most, always more than a lease. */
    Duration time() {
        return claimant.lease().multipliedBy(2);
    }

    private synchronized void written(Share share) {
        Integer slots = share.held();
        if (slots != null) {
            Held mine = held.computeIfAbsent(share.limit().key(), key -> new Held());
            mine.written = Math.max(slots, mine.written);
            mine.unsure = true; // until a commit is known: the row may say less
            mine.parked = share.parks() || share.limit().parked();
            mine.spareSince = System.nanoTime();
        }
    }

    /** Makes rows for limits that have none yet. */
    void note(Set<LimitKey> keys) throws SQLException {
        connection.call(open -> {
            sql.note(open, keys);
            return true;
        });
    }

    /** How many runs of a limit key this worker has. */
    synchronized int runs(LimitKey key) {
        Held mine = held.get(key);
        return mine == null ? 0 : mine.runs;
    }

    /** A run was claimed. */
    synchronized void began(Run run) {
        LimitKey key = run.limit();
        if (key != null) {
            held.computeIfAbsent(key, each -> new Held()).runs++;
        }
    }

    /** A run's thread has ended; true if its slot is to be freed. */
    synchronized boolean ended(Run run) {
        handedBack(run);
        LimitKey key = run.limit();
        Held mine = key == null ? null : held.get(key);
        if (mine == null) {
            return false;
        }
        if (!mine.hasSpare()) {
            mine.spareSince = System.nanoTime();
        }
        mine.runs--;
        if (mine.runs == 0 && mine.written == 0) {
            held.remove(key);
        }
        return mine.hasSpare() && mine.parked;
    }

    /** What of a run has not begun, and never will, has used nothing of the rate. */
    synchronized void handedBack(Run run) {
        LimitKey key = run.limit();
        Instant window = run.limitWindow();
        if (key != null && window != null && run.notBegun() > 0) {
            unused.add(key, new Spent(-run.notBegun(), window));
        }
    }

    private synchronized Map<LimitKey, Spent> takeUnused(boolean all) {
        long now = System.nanoTime();
        return all || (now - freeAgain >= 0 && unused.pause(now) == 0) ? unused.take(KEYS) : new HashMap<>();
    }

    private synchronized void putBack(Map<LimitKey, Spent> back) {
        back.forEach(unused::add);
    }

    /** Whether slots of the run's limit are held that no run has, or tokens: without a claim to come they are to be freed soon. */
    synchronized boolean isSpare(Run run) {
        LimitKey key = run.limit();
        Held mine = key == null ? null : held.get(key);
        return (mine != null && mine.hasSpare()) || (key != null && unused.has(key));
    }

    /** Whether there is something to free, or tokens to give back. */
    synchronized boolean hasSpare() {
        return !unused.isEmpty() || held.values().stream().anyMatch(Held::hasSpare);
    }

    private synchronized Map<LimitKey, Integer> toFree(boolean all) {
        long now = System.nanoTime();
        Map<LimitKey, Integer> free = new HashMap<>();
        if (now - freeAgain < 0 && !all) {
            return free;
        }
        held.forEach((key, mine) -> {
            boolean due = all || mine.parked || mine.unsure || now - mine.spareSince >= SPARE;
            if (mine.hasSpare() && due && free.size() < KEYS) {
                free.put(key, mine.written - mine.runs);
            }
        });
        return free;
    }

    /** In how long there will be slots to free; Long.MAX_VALUE if there are none. */
    synchronized long pause(long now) {
        long pause = Long.MAX_VALUE;
        for (Held mine : held.values()) {
            if (mine.hasSpare()) {
                pause = Math.min(pause, mine.parked ? 0 : Math.max(0, mine.spareSince + SPARE - now));
            }
        }
        pause = Math.min(pause, unused.pause(now));
        return Math.min(Math.max(pause, freeAgain - now), windows.pause(now));
    }

    /**
     * Frees slots of runs that have ended, and makes as many parked jobs ready.
     *
     * @param all those too that the next claim may need
     * @return in how long each of them is due
     */
    List<Duration> step(boolean all) throws SQLException {
        Map<LimitKey, Integer> free = toFree(all);
        Map<LimitKey, Spent> back = takeUnused(all);
        if (free.isEmpty() && back.isEmpty()) {
            return List.of();
        }
        TreeSet<LimitKey> keys = new TreeSet<>(free.keySet());
        keys.addAll(back.keySet());
        List<Share> shares = new ArrayList<>();
        List<Duration> dueIn = connection.inTransaction(open -> {
            List<LockedLimit> locked = sql.lock(open, List.copyOf(keys));
            unsure(free.keySet());
            List<Promotion> promotions = new ArrayList<>();
            for (LockedLimit limit : locked) {
                LimitKey key = limit.key();
                keys.remove(key);
                int runs = runs(key);
                Integer freed = free.get(key);
                Spent spent = back.getOrDefault(key, NOTHING);
                shares.add(new Share(limit, freed == null ? null : (Integer) runs, false, spent, false));
                if (limit.parked()) {
                    int slots = freed == null ? 0 : freed;
                    int most = Math.max(slots, -spent.tokens());
                    promotions.add(new Promotion(limit, slots, most, 0, runs, turns.of(key)));
                }
            }
            take(open, shares);
            return promote(open, promotions);
        });
        back.keySet().retainAll(keys);
        putBack(back);
        freed(shares);
        if (!keys.isEmpty()) {
            note(keys);
        }
        busy(!keys.isEmpty());
        return dueIn;
    }

    /** Rows that others have locked are tried again soon, but not at once. */
    private synchronized void busy(boolean some) {
        freeAgain = System.nanoTime() + (some ? busyPause : 0);
        busyPause = some ? Math.min(LONGEST_BUSY, busyPause * 2) : SHORTEST_BUSY;
    }

    private synchronized void unsure(Set<LimitKey> freed) {
        for (LimitKey key : freed) {
            Held mine = held.get(key);
            if (mine != null) {
                mine.unsure = true;
            }
        }
    }

    /** What a round took is committed. */
    synchronized void committed(LimitRooms rooms) {
        for (Share share : rooms.shares()) {
            Held mine = held.get(share.limit().key());
            if (mine != null && share.held() != null) {
                mine.unsure = false;
            }
        }
    }

    private synchronized void freed(List<Share> shares) {
        for (Share share : shares) {
            LimitKey key = share.limit().key();
            Held mine = held.get(key);
            if (mine != null && share.held() != null) {
                mine.written = share.held();
                mine.unsure = false;
                if (mine.runs == 0 && mine.written == 0) {
                    held.remove(key);
                }
            }
        }
    }

    /** Makes parked jobs of locked limits ready; gives in how long each of them is due. */
    List<Duration> promote(Connection open, List<Promotion> promotions) throws SQLException {
        return promotions.isEmpty() ? List.of() : promotes.promote(open, claimant.owner(), kinds, AHEAD, promotions);
    }

    /** Leaves all limits at the end, also those whose rows others had locked. */
    void leave() throws SQLException {
        if (used) {
            connection.call(open -> {
                sql.leave(open, claimant.owner());
                return true;
            });
        }
    }

    /** Keeps up all slots this worker holds, over another connection than the claimer's. */
    void extend(EngineConnection beating) throws SQLException {
        long askedAt = System.nanoTime();
        stoodStill.compareAndSet(false, isTimeOver(askedAt));
        if (used) {
            beating.call(open -> {
                sql.extend(
                        open,
                        claimant.owner(),
                        time(),
                        time().minus(claimant.lease().dividedBy(2)));
                return true;
            });
        }
        extendedAt = askedAt;
    }

    private boolean isTimeOver(long now) {
        return now - extendedAt >= time().toNanos();
    }

    /** Whether this worker stood still, or could not reach the database, for so long that others may have its slots; once. */
    boolean stoodStill() {
        return stoodStill.getAndSet(false) || isTimeOver(System.nanoTime());
    }
}
