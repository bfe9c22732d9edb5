package io.rowlock.internal.engine;

import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.DueSql;
import io.rowlock.internal.sql.DueSql.Look;
import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.LimitSql;
import io.rowlock.internal.sql.LimitSql.LockedLimit;
import io.rowlock.internal.sql.LimitSql.Others;
import io.rowlock.internal.sql.LimitSql.Room;
import io.rowlock.internal.sql.LimitSql.Share;
import io.rowlock.internal.sql.LimitSql.Spent;
import io.rowlock.internal.sql.QueueSql;
import io.rowlock.job.QueueLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Keeps the limits of queues over all workers: how many handlers this one may run at once, and how many jobs it may
 * claim in this window. For the claimer's thread.
 */
final class QueueGate {
    /*
     * Slots of a queue are the right to run handlers, not bound to jobs: a worker asks for as many as it has work for,
     * runs no more than it holds, and keeps them as long as it is busy, so that a limit that does not bind costs next to
     * nothing. Where others wait for some, a worker gives up what is more than its share, or, with one slot, that one
     * for a while. Tokens of a window are taken before a claim, as many as there are jobs for; what is not used within
     * a second is given back, as are those of jobs that were handed back without having begun. Nothing is taken before there is work: a worker without any asks only whether there is.
     */
    private static final long REFRESH = TimeUnit.SECONDS.toNanos(5);
    private static final int MOST_COUNTED = 500;

    private final EngineConnection connection;
    private final LimitSql sql;
    private final DueSql due;
    private final QueueSql queues;
    private final Claimant claimant;
    private final Work work;
    private final Limits limits;
    private final long poll;
    private final Map<String, GatedQueue> gated = new TreeMap<>();
    private final Queue<Run> handedBack = new ConcurrentLinkedQueue<>();
    private volatile boolean refreshAsked = true;
    private long nextRefresh = System.nanoTime() + REFRESH;

    /** What a gate looks at and steers: lanes, slots and runners of its worker. */
    record Work(Lanes lanes, Lanes keyedLanes, Slots slots, Map<String, QueueRunner> runners) {}

    QueueGate(EngineConnection connection, EngineSql sql, Claimant claimant, Work work, Limits limits, Duration poll) {
        this.connection = connection;
        this.sql = sql.limits();
        this.due = sql.due();
        this.queues = sql.queues();
        this.claimant = claimant;
        this.work = work;
        this.limits = limits;
        this.poll = poll.toNanos();
    }

    /** Settings may have changed. */
    void refreshSoon() {
        refreshAsked = true;
    }

    /** Takes what there is work for and gives back what there is none for; to be called before claims. */
    void step() throws SQLException {
        if (refreshAsked) {
            refresh();
        }
        takeHandedBack();
        boolean stoodStill = limits.stoodStill();
        if (gated.isEmpty()) {
            return;
        }
        if (stoodStill) {
            gated.values().forEach(GatedQueue::lookFirst);
        }
        long now = System.nanoTime();
        Set<GatedQueue> asking = new HashSet<>();
        for (GatedQueue queue : gated.values()) {
            if (queue.wantsMore(now)) {
                asking.add(queue);
            }
        }
        Map<String, Integer> due = asking.isEmpty() ? Map.of() : due(asking);
        List<GatedQueue> changing = new ArrayList<>();
        for (GatedQueue queue : gated.values()) {
            if (queue.plan(now, asking.contains(queue) ? due.getOrDefault(queue.name(), 0) : 0)) {
                changing.add(queue);
            }
        }
        if (!changing.isEmpty()) {
            change(changing);
        }
    }

    /** A run has ended: what of it has not begun has used nothing. For any thread. */
    void ended(Run run) {
        if (run.notBegun() > 0 && run.window() != null) {
            handedBack.add(run);
        }
    }

    private void takeHandedBack() {
        for (Run run = handedBack.poll(); run != null; run = handedBack.poll()) {
            GatedQueue queue = gated.get(run.queue());
            Instant window = run.window();
            if (queue != null && window != null) {
                queue.handedBack(run.notBegun(), window);
            }
        }
    }

    /** Whether it is time to look at the settings again. */
    boolean isStale() {
        return System.nanoTime() - nextRefresh >= 0;
    }

    /** Looks at the settings of the queues, and whether others wait for slots. */
    void refresh() throws SQLException {
        refreshAsked = false;
        nextRefresh = System.nanoTime() + REFRESH;
        Collection<String> names = work.lanes().queues();
        Map<String, QueueLimits> settings = connection.call(open -> queues.limits(open, names));
        Set<String> keyed = new HashSet<>();
        for (String name : names) {
            QueueLimits set = settings.getOrDefault(name, QueueLimits.none());
            if (set.runningPerKey() != null || set.ratePerKey() != null) {
                keyed.add(name);
            }
            if (set.running() != null || set.rate() != null || gated.containsKey(name)) {
                gated.computeIfAbsent(
                                name,
                                each -> new GatedQueue(
                                        each,
                                        work.slots(),
                                        Objects.requireNonNull(work.runners().get(each))))
                        .set(set);
            }
        }
        limits.limited(keyed);
        giveWay();
        gated.values().removeIf(GatedQueue::isOpen);
    }

    /** Others wait: gives up what is more than this worker's share. */
    private void giveWay() throws SQLException {
        List<LimitKey> keys = gated.values().stream()
                .filter(GatedQueue::holdsSlots)
                .map(queue -> LimitKey.of(queue.name()))
                .toList();
        if (keys.isEmpty()) {
            return;
        }
        Map<LimitKey, Others> others = connection.call(open -> sql.others(open, keys, claimant.owner()));
        for (LimitKey key : keys) {
            GatedQueue queue = gated.get(key.queue());
            if (queue != null) {
                queue.share(others.getOrDefault(key, new Others(0, 0, 0)));
            }
        }
    }

    private Map<String, Integer> due(Set<GatedQueue> asking) throws SQLException {
        Set<String> names = new HashSet<>();
        asking.forEach(queue -> names.add(queue.name()));
        List<Look> looks = new ArrayList<>();
        for (int i = 0; i < work.lanes().all().size(); i++) {
            Lanes.Lane lane = work.lanes().all().get(i);
            Lanes.Lane keyed = work.keyedLanes().all().get(i); // of the same queue, kind and priority
            Lanes.Key key = lane.key();
            if (names.contains(key.queue()) && work.slots().free(lane.binding()) > 0) {
                looks.add(new Look(
                        key.queue(),
                        key.kind(),
                        key.priority(),
                        work.lanes().since(lane),
                        work.keyedLanes().since(keyed)));
            }
        }
        return connection.call(open -> due.due(open, looks, MOST_COUNTED));
    }

    private void change(List<GatedQueue> changing) throws SQLException {
        Map<LimitKey, GatedQueue> byKey = new TreeMap<>();
        changing.forEach(queue -> byKey.put(LimitKey.of(queue.name()), queue));
        List<LimitKey> keys = List.copyOf(byKey.keySet());
        Set<LimitKey> locked = connection.inTransaction(open -> change(open, keys, byKey));
        byKey.values().forEach(queue -> queue.settle(poll));
        if (locked.size() < keys.size()) {
            limits.note(byKey.keySet());
        }
    }

    private Set<LimitKey> change(Connection open, List<LimitKey> keys, Map<LimitKey, GatedQueue> byKey)
            throws SQLException {
        long askedAt = System.nanoTime();
        List<LockedLimit> locked = sql.lock(open, keys);
        List<Room> rooms = sql.look(open, locked.stream().map(LockedLimit::key).toList(), claimant.owner());
        List<Share> shares = new ArrayList<>();
        for (int i = 0; i < locked.size(); i++) {
            GatedQueue queue = byKey.get(locked.get(i).key());
            if (queue != null) {
                GatedQueue.Grant grant = queue.answer(rooms.get(i), askedAt);
                shares.add(new Share(
                        locked.get(i),
                        grant.held(),
                        grant.waits(),
                        new Spent(grant.tokens(), rooms.get(i).window()),
                        false));
            }
        }
        if (!shares.isEmpty()) {
            limits.take(open, shares);
        }
        return locked.stream().map(LockedLimit::key).collect(Collectors.toSet());
    }

    /** Gives back all slots, as no handler runs any more. */
    void giveAllBack() throws SQLException {
        takeHandedBack();
        List<GatedQueue> holding =
                gated.values().stream().filter(GatedQueue::stop).toList();
        if (!holding.isEmpty()) {
            change(holding);
        }
    }

    /** Whether the row of a limit could not be had the last time. */
    boolean isBusy() {
        return gated.values().stream().anyMatch(GatedQueue::isBusy);
    }

    /** How soon to try again what could not be locked, or what a new window has; Long.MAX_VALUE: no sooner than usual. */
    long pause(long now) {
        long pause = Long.MAX_VALUE;
        for (GatedQueue queue : gated.values()) {
            pause = Math.min(pause, queue.pause(now));
        }
        return pause;
    }

    /** How many jobs of each queue may be claimed: of those that have slots free here, no more than tokens. */
    Map<String, Integer> free() {
        Map<String, Integer> free = work.slots().free();
        long now = System.nanoTime();
        for (GatedQueue queue : gated.values()) {
            Integer slots = free.get(queue.name());
            int tokens = queue.tokens(now);
            if (slots != null && tokens < slots) {
                if (tokens == 0) {
                    free.remove(queue.name());
                } else {
                    free.put(queue.name(), tokens);
                }
            }
        }
        return free;
    }

    /** How many jobs of a queue may be claimed in this window. */
    int tokens(String name) {
        GatedQueue queue = gated.get(name);
        return queue == null ? Integer.MAX_VALUE : queue.tokens(System.nanoTime());
    }

    /** A run was claimed. */
    void claimed(Run run) {
        GatedQueue queue = gated.get(run.queue());
        if (queue != null) {
            run.countsIn(queue.spend(run.jobs().size()));
        }
    }
}
