package io.rowlock.internal.engine;

import io.rowlock.internal.sql.ClaimSql.Claimed;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import io.rowlock.worker.HandlerBinding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The lanes a worker scans, each with its watermark.
 */
final class Lanes {
    /*
     * The watermark of a lane is the run_at from which the next claim scans it, less a slack. Claimed and finished rows
     * leave dead entries at the front of the index; while something pins the oldest snapshot, vacuum cannot remove them,
     * and a scan from the beginning walks them all again each time. The watermark skips them.
     *
     * Invariants:
     * 1. It only says where to look first. Nothing is lost by a wrong one: the sweep walks every lane from its beginning
     *    (P2). New rows have a run_at of at least the database's time when they were written, so only transactions that
     *    stay open for longer than the slack commit rows behind it.
     * 2. It is a time of the database (the run_at of a claimed row, or the time of a statement), never of this JVM (P7).
     * 3. It goes up to the statement's time only if the scan of that lane came back short of what it asked for and was
     *    not cut by the queue's limit; else to the run_at of its last claimed row.
     * 4. It goes down when a wake-up or a sweep names an earlier run_at, and is no higher than that after a claim that
     *    was under way meanwhile: its snapshot may be older than the commit.
     *
     * Lanes of a higher priority come first; within a priority the order turns by one each claim, so that a flooded lane
     * cannot keep the others from a queue's slots.
     *
     * A handler with fewer free slots than lanes cannot scan them all at once, or a claim might take more than it may
     * run. Its lanes then have their turn one after the other, highest priority first, over several claims; they begin
     * anew when one gave a job. So no lane is left out for ever (P2), and priorities hold.
     */
    private static final Duration SLACK = Duration.ofSeconds(5);

    private final List<Lane> lanes = new ArrayList<>();
    private final Map<Key, Lane> byKey = new HashMap<>();
    private final Map<HandlerBinding<?>, Rota> rotas = new HashMap<>();
    private int turn;

    record Key(String queue, String kind, int priority) {}

    /** One queue, kind and priority: what the claimer scans. Guarded by the monitor of its Lanes. */
    static final class Lane {
        private final Key key;
        private final HandlerBinding<?> binding;
        private @Nullable Instant watermark;
        private @Nullable Instant loweredTo;

        Lane(Key key, HandlerBinding<?> binding) {
            this.key = key;
            this.binding = binding;
        }

        Key key() {
            return key;
        }

        HandlerBinding<?> binding() {
            return binding;
        }

        @Nullable
        Instant since() {
            return watermark == null ? null : watermark.minus(SLACK);
        }

        private void raise(Instant to) {
            if (watermark == null || to.isAfter(watermark)) {
                watermark = to;
            }
        }

        private void lower(Instant to) {
            if (watermark != null && to.isBefore(watermark)) {
                watermark = to;
            }
            if (loweredTo == null || to.isBefore(loweredTo)) {
                loweredTo = to;
            }
        }
    }

    /** The lanes of a handler that have still to have their turn. */
    private static final class Rota {
        private final Deque<Lane> waiting = new ArrayDeque<>();
        private int rounds;
    }

    Lanes(Set<String> queues, List<HandlerBinding<?>> bindings) {
        for (Priority priority : Priority.values()) {
            for (String queue : queues) {
                for (HandlerBinding<?> binding : bindings) {
                    add(new Key(queue, binding.kind().name(), priority.level()), binding);
                    for (String alias : binding.kind().aliases()) {
                        add(new Key(queue, alias, priority.level()), binding);
                    }
                }
            }
        }
    }

    private void add(Key key, HandlerBinding<?> binding) {
        Lane lane = new Lane(key, binding);
        lanes.add(lane);
        byKey.put(key, lane);
    }

    List<Lane> all() {
        return lanes;
    }

    Set<String> queues() {
        return lanes.stream().map(lane -> lane.key().queue()).collect(Collectors.toSet());
    }

    Set<String> kinds() {
        return lanes.stream().map(lane -> lane.key().kind()).collect(Collectors.toSet());
    }

    /** The handler of a kind in a queue, or null if this worker has none. */
    @Nullable
    HandlerBinding<?> binding(String queue, String kind) {
        Lane lane = byKey.get(new Key(queue, kind, Priority.NORMAL.level()));
        return lane == null ? null : lane.binding();
    }

    /** A scan of one lane from its watermark, for at most so many rows. */
    synchronized LaneScan scan(Lane lane, int most) {
        lane.loweredTo = null;
        return new LaneScan(lane.key().queue(), lane.key().kind(), lane.key().priority(), lane.since(), most);
    }

    /** Moves one lane's watermark up after its scan, see invariants 3 and 4. */
    synchronized void raise(Lane lane, Instant to) {
        lane.raise(to);
        if (lane.loweredTo != null) {
            lane.lower(lane.loweredTo);
        }
    }

    /** The handler of a claimed job's kind. */
    HandlerBinding<?> binding(ClaimedRow row) {
        Lane lane = byKey.get(
                new Key(row.lane().queue(), row.lane().kind(), row.lane().priority()));
        if (lane == null) {
            throw new IllegalStateException("A job of a foreign lane was claimed (job=" + row.id() + ")");
        }
        return lane.binding();
    }

    /**
     * What to scan for now. passedOver: lanes of a limited handler still wait for their turn; heldBack: a limited handler
     * has no slot at all, so that its lanes are looked at when it has.
     */
    record Plan(Map<String, Integer> free, List<LaneScan> scans, boolean passedOver, boolean heldBack) {
        int most() {
            return free.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    /** Plans a claim for the free slots. */
    synchronized Plan plan(Map<String, Integer> free, Slots slots) {
        turn++;
        for (Rota rota : rotas.values()) {
            rota.waiting.removeIf(lane -> !free.containsKey(lane.key().queue()));
        }
        return plan(free, slots, true);
    }

    /** Plans a claim of the lanes that the last plan passed over. */
    synchronized Plan planPassedOver(Map<String, Integer> free, Slots slots) {
        return plan(free, slots, false);
    }

    private Plan plan(Map<String, Integer> free, Slots slots, boolean all) {
        List<Lane> order = inTurn(free.keySet(), turn);
        Map<HandlerBinding<?>, List<Lane>> byHandler = new LinkedHashMap<>();
        order.forEach(lane -> byHandler
                .computeIfAbsent(lane.binding(), binding -> new ArrayList<>())
                .add(lane));
        Map<Lane, Integer> most = new HashMap<>();
        boolean passedOver = false;
        boolean heldBack = false;
        for (Map.Entry<HandlerBinding<?>, List<Lane>> each : byHandler.entrySet()) {
            int slotsFree = slots.free(each.getKey());
            heldBack |= slotsFree == 0;
            if (slotsFree >= each.getValue().size()) {
                shareOut(all ? each.getValue() : List.of(), slotsFree, most);
            } else if (slotsFree > 0) {
                passedOver |= takeTurns(each.getKey(), slotsFree, all ? free.keySet() : Set.of(), most);
            }
        }
        List<LaneScan> scans = new ArrayList<>();
        for (Lane lane : order) {
            int limit = Math.min(free.getOrDefault(lane.key().queue(), 0), most.getOrDefault(lane, 0));
            if (limit > 0) {
                scans.add(scan(lane, limit));
            }
        }
        return new Plan(free, scans, passedOver, heldBack);
    }

    /** Divides a handler's free slots over its lanes. */
    private static void shareOut(List<Lane> lanes, int slotsFree, Map<Lane, Integer> most) {
        int given = 0;
        for (Lane lane : lanes) {
            int share = slotsFree / lanes.size() + (given++ < slotsFree % lanes.size() ? 1 : 0);
            most.put(lane, slotsFree == Integer.MAX_VALUE ? slotsFree : share);
        }
    }

    /** Gives the next lanes of a handler one slot each; a new round, over these queues, if none waits. True if some still do. */
    private boolean takeTurns(HandlerBinding<?> handler, int slotsFree, Set<String> queues, Map<Lane, Integer> most) {
        Rota rota = rotas.computeIfAbsent(handler, binding -> new Rota());
        if (rota.waiting.isEmpty()) {
            for (Lane lane : inTurn(queues, rota.rounds++)) {
                if (lane.binding().equals(handler)) {
                    rota.waiting.add(lane);
                }
            }
        }
        for (int i = 0; i < slotsFree && !rota.waiting.isEmpty(); i++) {
            most.put(rota.waiting.remove(), 1);
        }
        return !rota.waiting.isEmpty();
    }

    private List<Lane> inTurn(Set<String> queues, int by) {
        List<Lane> order = new ArrayList<>();
        int perPriority = lanes.size() / Priority.values().length;
        for (int start = 0; start < lanes.size(); start += perPriority) {
            for (int i = 0; i < perPriority; i++) {
                Lane lane = lanes.get(start + (i + by) % perPriority);
                if (queues.contains(lane.key().queue())) {
                    order.add(lane);
                }
            }
        }
        return order;
    }

    /** Moves the watermarks after a claim, as invariant 3 says. */
    synchronized void answered(Plan plan, Claimed claimed) {
        Map<String, Integer> perQueue = new HashMap<>();
        Map<Key, Integer> perLane = new HashMap<>();
        Map<Key, Instant> last = new LinkedHashMap<>();
        for (ClaimedRow row : claimed.rows()) {
            Key key = new Key(row.lane().queue(), row.lane().kind(), row.lane().priority());
            perQueue.merge(key.queue(), 1, Integer::sum);
            perLane.merge(key, 1, Integer::sum);
            last.put(key, row.runAt()); // rows come in the order of time
            Rota rota = rotas.get(binding(row));
            if (rota != null) {
                rota.waiting.clear();
            }
        }
        for (LaneScan scan : plan.scans()) {
            Key key = new Key(scan.queue(), scan.kind(), scan.priority());
            Lane lane = byKey.get(key);
            boolean cut = perQueue.getOrDefault(key.queue(), 0) >= plan.free().getOrDefault(key.queue(), 0);
            boolean shortOf = perLane.getOrDefault(key, 0) < scan.most();
            Instant lastClaimed = last.get(key);
            if (lane != null && shortOf && !cut) {
                lane.raise(claimed.askedAt());
            } else if (lane != null && lastClaimed != null) {
                lane.raise(lastClaimed);
            }
            if (lane != null && lane.loweredTo != null) {
                lane.lower(lane.loweredTo);
            }
        }
    }

    /** Lowers the watermarks for jobs that have just committed. */
    synchronized void lower(Collection<Enqueued> committed) {
        for (Enqueued job : committed) {
            lower(new Key(job.queue(), job.kind(), job.priority().level()), job.runAt());
        }
    }

    /** Lowers one lane's watermark to where rows were found behind it. */
    synchronized void lower(Key key, Instant to) {
        Lane lane = byKey.get(key);
        if (lane != null) {
            lane.lower(to);
        }
    }

    /** From where the next claim scans a lane; what stands before it unowned is late. */
    synchronized @Nullable Instant since(Lane lane) {
        return lane.since();
    }
}
