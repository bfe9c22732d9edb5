package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.sql.KeySql.Head;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.KeyedClaimSql.Candidate;
import io.rowlock.internal.sql.KeyedClaimSql.Chosen;
import io.rowlock.internal.sql.KeyedClaimSql.ChosenRun;
import io.rowlock.internal.sql.LimitKey;
import io.rowlock.worker.HandlerBinding;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which due jobs one round takes as runs, which it parks behind others of their ordering key or because their limit key
 * is full, and which it leaves for want of a slot in this worker.
 */
final class Choice {
    private static final int LONGEST_RUN = 100;

    private final Lanes lanes;
    private final List<Lane> scanned;
    private final Slots slots;
    private final Limits limits;
    private final Map<String, Integer> free;
    private final boolean oneJob;
    private final Set<Long> avoided;
    private final Map<HandlerBinding<?>, Integer> freeOfHandler = new HashMap<>();
    private final List<ChosenRun> runs = new ArrayList<>();
    private final List<Long> parked = new ArrayList<>();
    private final Map<String, Integer> tokens = new HashMap<>();
    private final List<Long> heldBack = new ArrayList<>();
    private final Set<Long> kept = new HashSet<>();
    private final Map<String, List<Takeable>> takeable = new LinkedHashMap<>();
    private final Set<Takeable> tried = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<Takeable> passedOver = new ArrayList<>();
    private final Set<Lane> served = new HashSet<>();
    private final QueueGate gate;
    private LimitRooms rooms = new LimitRooms();
    private boolean suspectFits;
    private int rows;

    /**
     * @param scanned the lanes whose numbers the due jobs have
     * @param oneJob no run is longer than one job
     * @param avoided jobs that no run begins with
     */
    Choice(
            Lanes lanes,
            List<Lane> scanned,
            Capacity capacity,
            Map<String, Integer> free,
            boolean oneJob,
            Set<Long> avoided) {
        this.lanes = lanes;
        this.scanned = scanned;
        this.slots = capacity.slots();
        this.limits = capacity.limits();
        this.gate = capacity.gate();
        this.free = new HashMap<>(free);
        this.oneJob = oneJob;
        this.avoided = avoided;
        this.suspectFits = slots.freeForSuspect();
    }

    /** From now on this is what limits have left; of others nothing is taken or parked. */
    void within(LimitRooms locked) {
        this.rooms = locked;
    }

    /** How many jobs of a key of the queue may run on one claim. */
    int runLength(String queue) {
        return oneJob ? 1 : Math.min(LONGEST_RUN, slots.quickOnes(queue));
    }

    /** A key whose head may be taken, or a job without (key null), and the lane in which it was found. */
    private record Takeable(@Nullable LockedKey key, List<Head> heads, HandlerBinding<?> binding, Lane lane) {
        Head head() {
            return heads.get(0);
        }

        String queue() {
            return lane.key().queue();
        }

        int level() {
            return lane.key().priority();
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
        if (binding != null && head.free() && !avoided.contains(head.id())) {
            takeable.computeIfAbsent(key.key().queue(), queue -> new ArrayList<>())
                    .add(new Takeable(
                            key, heads, binding, scanned.get(due.get(0).lane())));
        }
    }

    /** Looks at a due job without ordering key. */
    void consider(Candidate job, Lane lane) {
        Head alone = new Head(0, job.id(), lane.key().kind(), job.keys().limit(), job.losses(), true);
        takeable.computeIfAbsent(job.queue(), queue -> new ArrayList<>())
                .add(new Takeable(null, List.of(alone), lane.binding(), lane));
    }

    /** Gives the free slots of each queue to keys that were considered, by the shares of their levels. */
    void give(Shares<String> shares, int mostRows) {
        takeable.forEach((queue, keys) -> shares.give(
                queue, keys, Takeable::level, free.getOrDefault(queue, 0), each -> takesInTurn(each, mostRows)));
        passedOver.forEach(each -> isFull(each.head().id(), limitOf(each)));
    }

    /**
     * Of a limit key with parked jobs the one goes first whose level's turn it is there: in the place of one above it,
     * while one below it waits for its own.
     */
    private boolean takesInTurn(Takeable each, int mostRows) {
        if (tried.contains(each)) {
            return false;
        }
        Takeable first = firstOf(limitOf(each), each);
        if (!first.equals(each)) {
            passedOver.add(each);
        }
        if (first.level() < each.level()) {
            return false;
        }
        tried.add(first);
        return takes(first, mostRows);
    }

    private Takeable firstOf(@Nullable LimitKey limit, Takeable each) {
        if (limit == null || !rooms.hasParked(limit) || rooms.longestRun(limit) == 0) {
            return each;
        }
        Takeable first = each;
        for (Takeable other : takeable.getOrDefault(each.queue(), List.of())) {
            boolean before = other.level() != first.level() && goesBefore(limit, other.level(), first.level());
            if (before && limit.equals(limitOf(other)) && !tried.contains(other) && fits(other)) {
                first = other;
            }
        }
        return first;
    }

    /** The lowest whose turn it is, then the highest. */
    private boolean goesBefore(LimitKey limit, int level, int other) {
        boolean turn = limits.turns().isTurnOf(level, limit);
        boolean othersTurn = limits.turns().isTurnOf(other, limit);
        return turn == othersTurn ? (turn ? level > other : level < other) : turn;
    }

    private @Nullable LimitKey limitOf(Takeable each) {
        return limits.of(each.queue(), each.head().limitKey());
    }

    private boolean takes(Takeable each, int mostRows) {
        Head head = each.head();
        LimitKey limit = limitOf(each);
        if (!fits(each) || isFull(head.id(), limit)) {
            return false;
        }
        int most = Math.min(rooms.longestRun(limit), Math.min(tokensLeft(each.queue()), mostRows - rows));
        List<Long> run = new ArrayList<>();
        for (Head next : each.heads()) {
            boolean goesOn = next.free() && goesOnAfter(head, next) && (head.losses() == 0 || run.isEmpty());
            if (!goesOn || run.size() == most) {
                break;
            }
            run.add(next.id());
        }
        if (run.isEmpty()) {
            return false;
        }
        take(each, new ChosenRun(each.key(), Limits.name(each.queue(), head.limitKey()), run));
        return true;
    }

    private static boolean goesOnAfter(Head head, Head next) {
        return head.id() == next.id()
                || (next.kind().equals(head.kind())
                        && Objects.equals(next.limitKey(), head.limitKey())
                        && next.losses() == 0);
    }

    private boolean fits(Takeable each) {
        return free.getOrDefault(each.queue(), 0) > 0
                && freeOfHandler.computeIfAbsent(each.binding(), slots::free) > 0
                && (each.head().losses() == 0 || suspectFits);
    }

    private int tokensLeft(String queue) {
        return tokens.computeIfAbsent(queue, gate::tokens);
    }

    /** Of a limit that this round has not locked nothing is known, and nothing done. */
    private boolean isFull(long job, @Nullable LimitKey limit) {
        boolean full = rooms.longestRun(limit) == 0;
        if (full && rooms.isLocked(limit)) {
            rooms.park(limit);
            heldBack.add(job);
            kept.add(job);
        }
        return full;
    }

    private void take(Takeable each, ChosenRun run) {
        int jobs = run.ids().size();
        rows += jobs;
        if (rooms.hasParked(run.limit())) {
            limits.turns().took(run.limit(), each.level());
        }
        rooms.take(run.limit(), jobs);
        tokens.computeIfPresent(each.queue(), (queue, n) -> n == Integer.MAX_VALUE ? n : n - jobs);
        free.merge(each.queue(), -1, Integer::sum);
        freeOfHandler.computeIfPresent(each.binding(), (same, n) -> n == Integer.MAX_VALUE ? n : n - 1);
        suspectFits &= each.head().losses() == 0;
        served.add(each.lane());
        kept.addAll(run.ids());
        runs.add(run);
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

    /** All that was decided. */
    Chosen chosen() {
        return new Chosen(runs, parked, heldBack);
    }
}
