package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Lanes.Lane;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.Head;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.KeyedClaimSql;
import io.rowlock.internal.sql.KeyedClaimSql.Candidate;
import io.rowlock.internal.sql.KeyedClaimSql.Candidates;
import io.rowlock.internal.sql.KeyedClaimSql.Chosen;
import io.rowlock.internal.sql.KeyedClaimSql.ChosenRun;
import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs with ordering keys, as runs, and jobs with limit keys.
 */
final class KeyedClaimer {
    /*
     * How a key's jobs come to run one at a time and in order (P11):
     * - The head of a key is its lowest id among ready and parked. Who looks at the head, takes it, ends it or puts it
     *   back holds the lock of the key's row, and looks in a statement that began after the lock was had.
     * - A run is the head and what follows it, as long as it is due, nobody's, and of the head's kind. It is taken only
     *   while no job of the key's last run is leased. That run is noted in the key's row: a transaction that commits
     *   late may put rows before it, or between, and then the leased ones are not at the front.
     * - Due jobs that are not taken although somebody looked at their key are parked, out of the due index, so that they
     *   cost the next claims nothing. Whoever ends the jobs of a run makes the next head ready. What that one may miss
     *   (as a row was locked, or it died in between) the sweep of stranded keys finds.
     * How the limit of a limit key holds: see Limits. Its row is locked first, before those of ordering keys.
     */
    private static final Logger LOG = LoggerFactory.getLogger(KeyedClaimer.class);
    private static final int CANDIDATES = 2_000;
    private static final int KEYS = 200;
    private static final int ROWS = 1_000;
    private static final long AVOID = TimeUnit.MINUTES.toNanos(1);

    private final EngineConnection connection;
    private final KeyedClaimSql sql;
    private final KeySql keys;
    private final Claimant claimant;
    private final Lanes lanes;
    private final Capacity capacity;
    private final Limits limits;
    private final Map<OrderingKey, Long> avoided = new HashMap<>();
    private final AtomicBoolean asked = new AtomicBoolean(true);
    private final Shares<String> shares = new Shares<>();
    private final LockedRows lockedRows = new LockedRows();
    private Set<Long> lastParked = Set.of();
    private long rounds;
    private long nextLook = System.nanoTime();

    KeyedClaimer(EngineConnection connection, EngineSql sql, Claimant claimant, Lanes lanes, Capacity capacity) {
        this.connection = connection;
        this.sql = sql.keyedClaims();
        this.keys = sql.keys();
        this.claimant = claimant;
        this.lanes = lanes;
        this.capacity = capacity;
        this.limits = capacity.limits();
    }

    /**
     * What a round took; more if another one at once is worth while; left if due jobs wait for slots or locks, and busy
     * if it is the lock of a limit, which nobody holds for long. Again: in how many nanoseconds a locked row is to be
     * looked at again, Long.MAX_VALUE if there is none.
     */
    record Round(List<Run> runs, boolean more, boolean left, boolean busy, long again) {}

    /** Has the next round look, whatever the time: a job with a key was committed, or one has ended. */
    void ask() {
        asked.set(true);
    }

    /** Whether it is time to look. */
    boolean isAsked() {
        return asked.get() || System.nanoTime() - nextLook >= 0;
    }

    /** Whether somebody asked for a look. */
    boolean isTold() {
        return asked.get();
    }

    /** Another look has seen that nothing is due: if nobody asks, the next one is for later. */
    void looked(long pollNanos) {
        nextLook = System.nanoTime() + pollNanos;
    }

    /** Looks and takes what it can, for at most so many runs per queue. */
    Round step(Map<String, Integer> free, long pollNanos, boolean oneJob) throws SQLException {
        asked.set(false);
        nextLook = System.nanoTime() + pollNanos;
        List<Lane> scanned = scanned(free.keySet());
        int most = Math.max(50, CANDIDATES / Math.max(1, lanes.all().size()));
        List<LaneScan> scans =
                scanned.stream().map(lane -> lanes.scan(lane, most)).toList();
        if (scans.isEmpty()) {
            return new Round(List.of(), false, true, false, Long.MAX_VALUE);
        }
        long askedAt = System.nanoTime();
        List<Long> avoid = lockedRows.avoided();
        Candidates candidates = connection.call(open -> sql.candidates(open, scans, avoid));
        DueKeys.Chosen due = due(candidates.jobs(), scanned);
        Choice choice = new Choice(lanes, scanned, capacity, free, oneJob, Set.copyOf(avoid));
        Set<LimitKey> busy = new TreeSet<>(due.limits());
        Took took = due.order().isEmpty() ? new Took(List.of(), new LimitRooms()) : take(due, choice, busy);
        List<ClaimedRow> rows = took.rows();
        if (!busy.isEmpty()) {
            limits.note(busy);
        }
        rounds++;
        choice.served().forEach(lane -> lane.served(rounds));
        Chosen chosen = choice.chosen();
        Set<Long> missed = missed(chosen, rows);
        avoid(missed, candidates, scanned);
        moveWatermarks(candidates, scans, scanned, chosen);
        boolean goesOn = !rows.isEmpty() || !missed.isEmpty() || parksMore(chosen);
        int handled = chosen.park().size() + chosen.holdBack().size() + rows.size();
        return new Round(
                runs(took, chosen, askedAt),
                goesOn,
                handled < candidates.jobs().size(),
                !busy.isEmpty(),
                lockedRows.pause());
    }

    /** What was to be taken and was not, or to be parked, twice: as a rule another transaction has the rows locked. */
    private Set<Long> missed(Chosen chosen, List<ClaimedRow> rows) {
        Set<Long> missed = new HashSet<>();
        chosen.runs().forEach(run -> missed.addAll(run.ids()));
        rows.forEach(row -> missed.remove(row.id()));
        chosen.park().stream().filter(lastParked::contains).forEach(missed::add);
        chosen.holdBack().stream().filter(lastParked::contains).forEach(missed::add);
        return missed;
    }

    /** Where a row has been locked for some time, others may be too: all that were found are tried at once. */
    private void avoid(Set<Long> missed, Candidates candidates, List<Lane> scanned) throws SQLException {
        Map<Long, Candidate> found = new HashMap<>();
        candidates.jobs().forEach(job -> found.put(job.id(), job));
        Set<Long> locked = new HashSet<>(missed);
        if (missed.stream().anyMatch(lockedRows::knows)) {
            locked.addAll(found.keySet());
            locked.removeAll(connection.call(open -> sql.unlocked(open, locked)));
        }
        for (Long id : locked) {
            Candidate job = found.get(id);
            lockedRows.avoid(id, job == null ? null : new LockedRows.Place(scanned.get(job.lane()), job.runAt()));
        }
    }

    /** The lanes to look into: by priority, then the one that gave a run longest ago. */
    private List<Lane> scanned(Set<String> queues) {
        return lanes.all().stream()
                .filter(lane ->
                        queues.contains(lane.key().queue()) && capacity.slots().free(lane.binding()) > 0)
                .sorted(Comparator.<Lane>comparingInt(lane -> lane.key().priority())
                        .thenComparingLong(Lane::served))
                .toList();
    }

    private DueKeys.Chosen due(List<Candidate> candidates, List<Lane> scanned) {
        long now = System.nanoTime();
        avoided.values().removeIf(until -> until - now <= 0);
        return new DueKeys(shares, limits, KEYS).choose(candidates, scanned, avoided.keySet());
    }

    /** What a round took, and of which limits. */
    private record Took(List<ClaimedRow> rows, LimitRooms rooms) {}

    /** @param busy loses what could be locked */
    private Took take(DueKeys.Chosen due, Choice choice, Set<LimitKey> busy) throws SQLException {
        if (!due.byKey().isEmpty()) {
            note(due.byKey());
        }
        Took took = connection.inTransaction(open -> {
            LimitRooms rooms = limits.lock(open, due.limits());
            choice.within(rooms);
            busy.removeIf(rooms::isLocked);
            Map<OrderingKey, LockedKey> locked = new TreeMap<>();
            if (!due.byKey().isEmpty()) {
                keys.lock(open, new TreeSet<>(due.byKey().keySet())).forEach(key -> locked.put(key.key(), key));
            }
            consider(due, locked, heads(open, due, locked, choice), choice);
            choice.give(shares, ROWS);
            locked.keySet().forEach(key -> choice.park(due.byKey().getOrDefault(key, List.of())));
            Chosen chosen = choice.chosen();
            if (chosen.isEmpty()) {
                return new Took(List.of(), new LimitRooms());
            }
            List<ClaimedRow> rows = sql.take(open, claimant, chosen);
            rooms.takeBack();
            byRun(rows, chosen).forEach((run, taken) -> rooms.take(run.limit(), taken.size()));
            limits.take(open, rooms);
            return new Took(rows, rooms);
        });
        limits.committed(took.rooms());
        return took;
    }

    private Map<OrderingKey, List<Head>> heads(
            Connection open, DueKeys.Chosen due, Map<OrderingKey, LockedKey> locked, Choice choice)
            throws SQLException {
        List<LockedKey> openKeys = new ArrayList<>();
        List<Integer> most = new ArrayList<>();
        for (OrderingKey key : due.byKey().keySet()) {
            LockedKey row = locked.get(key);
            if (row != null && row.isOpen()) {
                openKeys.add(row);
                most.add(choice.runLength(key.queue()));
            }
        }
        Map<OrderingKey, List<Head>> heads = new HashMap<>();
        if (!openKeys.isEmpty()) {
            for (Head head : keys.heads(open, openKeys, most)) {
                heads.computeIfAbsent(openKeys.get(head.key()).key(), key -> new ArrayList<>())
                        .add(head);
            }
        }
        return heads;
    }

    private static void consider(
            DueKeys.Chosen due, Map<OrderingKey, LockedKey> locked, Map<OrderingKey, List<Head>> heads, Choice choice) {
        for (DueKeys.Due each : due.order()) {
            LockedKey row = each.key() == null ? null : locked.get(each.key());
            if (each.key() == null) {
                choice.consider(each.jobs().get(0), each.lane());
            } else if (row != null) {
                choice.consider(row, heads.getOrDefault(each.key(), List.of()), each.jobs());
            }
        }
    }

    /** What stands in the way of one key, a lock or that it is none, must not stand in the way of the others. */
    private void note(Map<OrderingKey, List<Candidate>> byKey) throws SQLException {
        try {
            note(byKey.keySet());
        } catch (SQLException e) {
            if (!ofOneKey(e)) {
                throw e;
            }
            for (OrderingKey key : List.copyOf(byKey.keySet())) {
                noteAlone(key, byKey);
            }
        }
    }

    private static boolean ofOneKey(SQLException e) {
        return SqlState.lockTimeout(e) || SqlState.refusesData(e);
    }

    private void noteAlone(OrderingKey key, Map<OrderingKey, List<Candidate>> byKey) throws SQLException {
        try {
            note(Set.of(key));
        } catch (SQLException e) {
            if (!ofOneKey(e)) {
                throw e;
            }
            LOG.warn(
                    "Jobs of an ordering key wait: its row is held by a transaction that does not end, or it is no key"
                            + " that Rowlock writes (queue={}, key={}): {}",
                    key.queue(),
                    key.text(),
                    e.getMessage());
            avoided.put(key, System.nanoTime() + AVOID);
            byKey.remove(key);
        }
    }

    private void note(Set<OrderingKey> all) throws SQLException {
        connection.call(open -> {
            keys.note(open, all);
            return true;
        });
    }

    private void moveWatermarks(Candidates candidates, List<LaneScan> scans, List<Lane> scanned, Chosen chosen) {
        Set<Long> gone = new HashSet<>(chosen.park());
        gone.addAll(chosen.holdBack());
        chosen.runs().forEach(run -> gone.addAll(run.ids()));
        Map<Integer, List<Candidate>> byLane = new HashMap<>();
        candidates.jobs().stream()
                .filter(job -> job.losses() == 0) // suspects are found wherever they stand
                .forEach(job -> byLane.computeIfAbsent(job.lane(), lane -> new ArrayList<>())
                        .add(job));
        Map<Lane, Instant> firstLocked = lockedRows.first();
        for (int i = 0; i < scans.size(); i++) {
            List<Candidate> seen = byLane.getOrDefault(i, List.of());
            Instant to = seen.stream()
                    .filter(job -> !gone.contains(job.id()))
                    .findFirst()
                    .map(Candidate::runAt)
                    .orElse(
                            seen.size() < scans.get(i).most()
                                    ? candidates.askedAt()
                                    : seen.get(seen.size() - 1).runAt());
            Instant locked = firstLocked.getOrDefault(scanned.get(i), to);
            lanes.raise(scanned.get(i), locked.isBefore(to) ? locked : to);
        }
    }

    /** Whether others are parked than in the last round: rows that somebody has locked stay where they are. */
    private boolean parksMore(Chosen chosen) {
        Set<Long> now = new HashSet<>(chosen.park());
        now.addAll(chosen.holdBack());
        boolean more = !lastParked.containsAll(now);
        lastParked = now;
        return more;
    }

    private List<Run> runs(Took took, Chosen chosen, long askedAt) {
        List<Run> runs = new ArrayList<>();
        byRun(took.rows(), chosen)
                .forEach((run, taken) -> runs.add(new Run(
                        taken.stream()
                                .map(row -> new LeasedJob(row, lanes.binding(row), askedAt))
                                .toList(),
                        run.limit(),
                        took.rooms().window(run.limit()))));
        return runs;
    }

    /** The jobs that were taken, by the runs they were chosen for, which may be cut short. */
    private static Map<ChosenRun, List<ClaimedRow>> byRun(List<ClaimedRow> rows, Chosen chosen) {
        Map<Long, ClaimedRow> byId = new HashMap<>();
        rows.forEach(row -> byId.put(row.id(), row));
        Map<ChosenRun, List<ClaimedRow>> taken = new LinkedHashMap<>();
        for (ChosenRun run : chosen.runs()) {
            List<ClaimedRow> jobs =
                    run.ids().stream().map(byId::get).filter(Objects::nonNull).toList();
            if (!jobs.isEmpty()) {
                taken.put(run, jobs);
            }
        }
        return taken;
    }
}
