package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.sql.ClaimSql.Claimed;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.ClaimSql.Share;
import io.rowlock.job.Priority;
import io.rowlock.worker.HandlerBinding;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Which lanes a claim scans, in which order, and for how many jobs. For the claimer's thread. */
final class Planner {
    /*
     * Lanes of a higher priority come first; within a priority the one that gave a job longest ago.
     *
     * A claim that filled its queue may have left lanes behind: those below the level at which it was full. From then on
     * these levels have their shares of each batch (see Shares), and are scanned for them before the others; until a
     * claim leaves a slot free, for then the levels above had no more, and nothing is due that was not seen. So no level
     * waits longer than two rounds of the shares, as every other claim at least keeps them; and none has a claim cut
     * short while those above it are empty, as only what lies below the full one is held to its share.
     *
     * A handler with a limit of its own cannot have all its lanes scanned for all its slots, or a claim might take more
     * than it may run. They have their turn one after the other, over several claims if need be, the lanes of one
     * level first: of which, the shares say. Each is scanned for one job, but the first that had plenty the last time
     * for all that are left. A round begins anew when a lane gave a job. A lane that the queue's limit kept from being
     * scanned keeps its turn. So no lane is left out for ever (P2).
     */
    private final Lanes lanes;
    private final Slots slots;
    private final Map<String, List<List<Lane>>> byQueue = new HashMap<>();
    private final Map<HandlerBinding<?>, Rota> rotas = new HashMap<>();
    private final Shares<String> shares = new Shares<>();
    private final Shares<Rota> rounds = new Shares<>();
    private final Map<String, Integer> fullAt = new HashMap<>();
    private long claims;
    private boolean leftOut;

    Planner(Lanes lanes, Slots slots) {
        this.lanes = lanes;
        this.slots = slots;
        for (Lane lane : lanes.all()) {
            lanesOf(lane.key().queue()).get(lane.key().priority()).add(lane);
            if (lane.binding().settings().concurrency() != null) {
                rotas.computeIfAbsent(lane.binding(), Rota::new).lanes.add(lane);
            }
        }
    }

    private List<List<Lane>> lanesOf(String queue) {
        return byQueue.computeIfAbsent(queue, name -> {
            List<List<Lane>> levels = new ArrayList<>();
            for (int level = 0; level < Priority.values().length; level++) {
                levels.add(new ArrayList<>());
            }
            return levels;
        });
    }

    /**
     * What to scan for now. passedOver: lanes of a limited handler still wait for their turn, or a level was left out below
     * one that is held to its share; heldBack: a limited handler has no slot at all, so that its lanes are looked at when it has.
     */
    record Plan(Map<String, Integer> free, List<Share> shares, boolean passedOver, boolean heldBack) {
        int most() {
            return free.values().stream().mapToInt(Integer::intValue).sum();
        }

        List<LaneScan> scans() {
            return shares.stream().flatMap(share -> share.lanes().stream()).toList();
        }
    }

    /** The lanes of a limited handler, and those that have still to have their turn. */
    private static final class Rota {
        private final HandlerBinding<?> handler;
        private final List<Lane> lanes = new ArrayList<>();
        private final List<Lane> waiting = new ArrayList<>();

        Rota(HandlerBinding<?> handler) {
            this.handler = handler;
        }
    }

    /** Plans a claim for the free slots of queues. */
    Plan plan(Map<String, Integer> free) {
        for (Rota rota : rotas.values()) {
            rota.waiting.removeIf(lane -> !free.containsKey(lane.key().queue()));
            if (rota.waiting.isEmpty()) {
                beginRound(rota, free.keySet());
            }
        }
        return plan(free, Integer.MAX_VALUE);
    }

    /** Plans a claim of the lanes that the last plan passed over, after it gave nothing. */
    Plan planPassedOver(Map<String, Integer> free) {
        fullAt.keySet().removeAll(free.keySet());
        return plan(free, leftOut ? Integer.MAX_VALUE : 0);
    }

    private void beginRound(Rota rota, Set<String> queues) {
        int[] first = rounds.next(rota, 1);
        rota.lanes.stream()
                .filter(lane -> queues.contains(lane.key().queue()))
                .sorted((a, b) -> {
                    int turn = Integer.compare(
                            first[b.key().priority()], first[a.key().priority()]);
                    int level = turn != 0
                            ? turn
                            : Integer.compare(a.key().priority(), b.key().priority());
                    return level != 0 ? level : Long.compare(a.served(), b.served());
                })
                .forEach(rota.waiting::add);
    }

    private Plan plan(Map<String, Integer> free, int unlimited) {
        Map<Lane, Integer> most = new HashMap<>();
        boolean passedOver = false;
        boolean heldBack = false;
        for (Rota rota : rotas.values()) {
            int slotsFree = slots.free(rota.handler);
            heldBack |= slotsFree == 0;
            if (slotsFree > 0) {
                takeTurns(rota.waiting, slotsFree, most);
                passedOver |= !rota.waiting.isEmpty();
            }
            rota.lanes.forEach(lane -> most.putIfAbsent(lane, 0));
        }
        List<Share> planned = new ArrayList<>();
        leftOut = false;
        free.forEach((queue, n) -> share(queue, n, most, unlimited, planned));
        return new Plan(free, planned, passedOver || leftOut, heldBack);
    }

    private static void takeTurns(List<Lane> waiting, int slotsFree, Map<Lane, Integer> most) {
        List<Lane> now = new ArrayList<>();
        int left = slotsFree;
        while (left > 0 && !waiting.isEmpty()) {
            Lane lane = waiting.remove(0);
            int some = lane.hadPlenty() ? left : 1;
            most.put(lane, some);
            now.add(lane);
            left -= some;
        }
        for (int i = 0; left > 0 && !now.isEmpty(); i++, left--) {
            most.merge(now.get(i % now.size()), 1, Integer::sum);
        }
    }

    /** The shares of a queue: first those of levels below the one that was full, then what is left for all others. */
    private void share(String queue, int free, Map<Lane, Integer> most, int unlimited, List<Share> planned) {
        List<List<Lane>> levels = lanesOf(queue);
        int full = fullAt.getOrDefault(queue, levels.size());
        int[] turns = full < levels.size() ? shares.next(queue, free) : new int[levels.size()];
        List<Lane> others = new ArrayList<>();
        boolean cut = false;
        for (int level = 0; level < levels.size(); level++) {
            List<Lane> lanesOfLevel = levels.get(level);
            lanesOfLevel.sort(Comparator.comparingLong(Lane::served));
            boolean held = level > full && turns[level] > 0;
            if (!held && !cut) {
                others.addAll(lanesOfLevel);
            }
            leftOut |= !held && cut;
            cut |= held && turns[level] < free;
        }
        for (int level = levels.size() - 1; level > full; level--) {
            if (turns[level] > 0) {
                scan(queue, turns[level], levels.get(level), most, unlimited, planned);
            }
        }
        scan(queue, free, others, most, unlimited, planned);
    }

    private void scan(
            String queue, int free, List<Lane> order, Map<Lane, Integer> most, int unlimited, List<Share> planned) {
        List<LaneScan> scans = new ArrayList<>();
        for (Lane lane : order) {
            int limit = Math.min(free, most.getOrDefault(lane, unlimited));
            if (limit > 0) {
                scans.add(lanes.scan(lane, limit));
            }
        }
        if (!scans.isEmpty()) {
            planned.add(new Share(queue, free, scans));
        }
    }

    /** Notes what a claim gave: for the watermarks, and for the next plan. */
    void answered(Plan plan, Claimed claimed) {
        claims++;
        Gave gave = new Gave(claimed.askedAt());
        claimed.rows().forEach(gave::add);
        Set<String> scannedOn = new HashSet<>(); // queues of which what stands before was scanned to its end
        Set<String> seen = new HashSet<>();
        for (int i = plan.shares().size() - 1; i >= 0; i--) {
            Share share = plan.shares().get(i);
            String queue = share.queue();
            boolean full = gave.of(queue) >= plan.free().getOrDefault(queue, 0);
            if (!full) {
                scannedOn.add(queue);
                fullAt.remove(queue);
            }
            int lowest = answered(share, scannedOn.contains(queue), gave);
            if (lowest >= 0) {
                scannedOn.add(queue);
            }
            if (seen.add(queue) && full && lowest >= 0) {
                fullAt.put(queue, lowest); // of the last share, which is that of all levels without one of their own
            }
        }
        for (ClaimedRow row : claimed.rows()) {
            Rota rota = rotas.get(lanes.binding(row));
            if (rota != null) {
                rota.waiting.clear();
            }
        }
    }

    /** What a claim gave, by lane. */
    private static final class Gave {
        private final Instant askedAt;
        private final Map<Lanes.Key, Integer> perLane = new HashMap<>();
        private final Map<Lanes.Key, Instant> last = new HashMap<>();
        private final Map<String, Integer> perQueue = new HashMap<>();

        Gave(Instant askedAt) {
            this.askedAt = askedAt;
        }

        void add(ClaimedRow row) {
            Lanes.Key key = Lanes.Key.of(row);
            perLane.merge(key, 1, Integer::sum);
            perQueue.merge(key.queue(), 1, Integer::sum);
            last.put(key, row.runAt()); // rows come in the order of time
        }

        int of(Lanes.Key lane) {
            return perLane.getOrDefault(lane, 0);
        }

        int of(String queue) {
            return perQueue.getOrDefault(queue, 0);
        }
    }

    /**
     * Goes through the lanes of a share from the last, as what stands before one that gave a job was scanned to its end.
     * Gives the lowest level that gave a job, or -1.
     */
    private int answered(Share share, boolean scannedBehind, Gave gave) {
        int lowest = -1;
        int all = share.lanes().stream()
                .mapToInt(scan -> gave.of(Lanes.Key.of(scan)))
                .sum();
        boolean scannedOn = scannedBehind && all < share.most();
        for (int i = share.lanes().size() - 1; i >= 0; i--) {
            LaneScan scan = share.lanes().get(i);
            Lane lane = Objects.requireNonNull(lanes.lane(Lanes.Key.of(scan)));
            int rows = gave.of(lane.key());
            if (rows > 0) {
                lane.served(claims);
                lowest = Math.max(lowest, lane.key().priority());
            }
            if (rows >= scan.most() || scannedOn) {
                lane.hadPlenty(rows >= scan.most());
            }
            if (scannedOn && rows < scan.most()) {
                lanes.raise(lane, gave.askedAt);
            } else if (rows > 0) {
                lanes.raise(lane, Objects.requireNonNull(gave.last.get(lane.key())));
            } else if (rotas.containsKey(lane.binding())) {
                Objects.requireNonNull(rotas.get(lane.binding())).waiting.add(0, lane);
            }
            scannedOn |= rows > 0;
        }
        return lowest;
    }
}
