package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.sql.KeySql.Head;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.KeyedClaimSql.Candidate;
import io.rowlock.internal.sql.KeyedClaimSql.ChosenRun;
import io.rowlock.worker.HandlerBinding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which jobs of locked keys one round takes as runs, which it parks, and which it leaves for want of a slot. */
final class Choice {
    private static final int LONGEST_RUN = 100;

    private final Lanes lanes;
    private final List<Lane> scanned;
    private final Slots slots;
    private final Map<String, Integer> free;
    private final boolean oneJob;
    private final Map<HandlerBinding<?>, Integer> freeOfHandler = new HashMap<>();
    private final List<ChosenRun> runs = new ArrayList<>();
    private final List<Long> parked = new ArrayList<>();
    private final Set<Long> kept = new HashSet<>();
    private final Map<String, List<Takeable>> takeable = new LinkedHashMap<>();
    private final Set<Lane> served = new HashSet<>();
    private boolean suspectFits;
    private int rows;

    /**
     * @param scanned the lanes whose numbers the due jobs have
     * @param oneJob no run is longer than one job
     */
    Choice(Lanes lanes, List<Lane> scanned, Slots slots, Map<String, Integer> free, boolean oneJob) {
        this.lanes = lanes;
        this.scanned = scanned;
        this.slots = slots;
        this.free = new HashMap<>(free);
        this.oneJob = oneJob;
        this.suspectFits = slots.freeForSuspect();
    }

    /** How many jobs of a key of the queue may run on one claim. */
    int runLength(String queue) {
        return oneJob ? 1 : Math.min(LONGEST_RUN, slots.quickOnes(queue));
    }

    /** A key whose head may be taken, and the lane in which it was found. */
    private record Takeable(LockedKey key, List<Head> heads, HandlerBinding<?> binding, Lane lane) {
        Head head() {
            return heads.get(0);
        }
    }

    /** Looks at the first jobs of a key that nothing blocks; none if one of its jobs is leased. */
    void consider(LockedKey key, List<Head> heads, List<Candidate> due) {
        if (heads.isEmpty() || due.isEmpty()) {
            return;
        }
        Head head = heads.get(0);
        kept.add(head.id());
        HandlerBinding<?> binding = lanes.binding(key.key().queue(), head.kind());
        if (binding != null && head.free()) {
            takeable.computeIfAbsent(key.key().queue(), queue -> new ArrayList<>())
                    .add(new Takeable(
                            key, heads, binding, scanned.get(due.get(0).lane())));
        }
    }

    /** Gives the free slots of each queue to keys that were considered, by the shares of their levels. */
    void give(Shares<String> shares, int mostRows) {
        takeable.forEach((queue, keys) -> shares.give(
                queue,
                keys,
                each -> each.lane().key().priority(),
                free.getOrDefault(queue, 0),
                each -> takes(each, mostRows)));
    }

    private boolean takes(Takeable each, int mostRows) {
        Head head = each.head();
        if (!fits(each.key(), head, each.binding())) {
            return false;
        }
        List<Long> run = new ArrayList<>();
        for (Head next : each.heads()) {
            boolean goesOn = next.free() && next.kind().equals(head.kind()) && (next.losses() == 0 || run.isEmpty());
            if (!goesOn || rows == mostRows || (head.losses() > 0 && !run.isEmpty())) {
                break;
            }
            run.add(next.id());
            rows++;
        }
        if (run.isEmpty()) {
            return false;
        }
        take(each.key(), head, each.binding(), run);
        served.add(each.lane());
        return true;
    }

    private boolean fits(LockedKey key, Head head, HandlerBinding<?> binding) {
        return free.getOrDefault(key.key().queue(), 0) > 0
                && freeOfHandler.computeIfAbsent(binding, slots::free) > 0
                && (head.losses() == 0 || suspectFits);
    }

    private void take(LockedKey key, Head head, HandlerBinding<?> binding, List<Long> run) {
        free.merge(key.key().queue(), -1, Integer::sum);
        freeOfHandler.computeIfPresent(binding, (same, n) -> n == Integer.MAX_VALUE ? n : n - 1);
        suspectFits &= head.losses() == 0;
        kept.addAll(run);
        runs.add(new ChosenRun(key, run));
    }

    /** Parks due jobs of a locked key, but for its head and what is taken. */
    void park(List<Candidate> due) {
        for (Candidate candidate : due) {
            if (!kept.contains(candidate.id())) {
                parked.add(candidate.id());
            }
        }
    }

    /** The lanes in which the keys of the runs were found. */
    Set<Lane> served() {
        return served;
    }

    List<ChosenRun> runs() {
        return runs;
    }

    List<Long> parked() {
        return parked;
    }

    boolean isEmpty() {
        return runs.isEmpty() && parked.isEmpty();
    }
}
