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
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs with ordering keys, as runs.
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
    private final Slots slots;
    private final Map<OrderingKey, Long> avoided = new HashMap<>();
    private final AtomicBoolean asked = new AtomicBoolean(true);
    private final Shares<String> shares = new Shares<>();
    private long rounds;
    private long nextLook = System.nanoTime();

    KeyedClaimer(EngineConnection connection, EngineSql sql, Claimant claimant, Lanes lanes, Slots slots) {
        this.connection = connection;
        this.sql = sql.keyedClaims();
        this.keys = sql.keys();
        this.claimant = claimant;
        this.lanes = lanes;
        this.slots = slots;
    }

    /** What a round took; more if another one at once is worth while; left if due jobs wait for slots or locks. */
    record Round(List<Run> runs, boolean more, boolean left) {}

    /** Has the next round look, whatever the time: a job with a key was committed, or one has ended. */
    void ask() {
        asked.set(true);
    }

    /** Whether it is time to look. */
    boolean isAsked() {
        return asked.get() || System.nanoTime() - nextLook >= 0;
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
            return new Round(List.of(), false, true);
        }
        long askedAt = System.nanoTime();
        Candidates candidates = connection.call(open -> sql.candidates(open, scans));
        Map<OrderingKey, List<Candidate>> byKey = byKey(candidates.jobs(), scanned);
        Choice choice = new Choice(lanes, scanned, slots, free, oneJob);
        List<ClaimedRow> rows = byKey.isEmpty() ? List.of() : take(byKey, choice);
        rounds++;
        choice.served().forEach(lane -> lane.served(rounds));
        moveWatermarks(candidates, scans, scanned, choice);
        int handled = choice.parked().size() + rows.size();
        boolean more = !rows.isEmpty() || !choice.parked().isEmpty();
        return new Round(runs(rows, askedAt), more, handled < candidates.jobs().size());
    }

    /** The lanes to look into: by priority, then the one that gave a run longest ago. */
    private List<Lane> scanned(Set<String> queues) {
        return lanes.all().stream()
                .filter(lane -> queues.contains(lane.key().queue()) && slots.free(lane.binding()) > 0)
                .sorted(Comparator.<Lane>comparingInt(lane -> lane.key().priority())
                        .thenComparingLong(Lane::served))
                .toList();
    }

    private Map<OrderingKey, List<Candidate>> byKey(List<Candidate> candidates, List<Lane> scanned) {
        long now = System.nanoTime();
        avoided.values().removeIf(until -> until - now <= 0);
        return new DueKeys(shares, KEYS).choose(candidates, scanned, avoided.keySet());
    }

    private List<ClaimedRow> take(Map<OrderingKey, List<Candidate>> byKey, Choice choice) throws SQLException {
        note(byKey);
        if (byKey.isEmpty()) {
            return List.of();
        }
        return connection.inTransaction(open -> {
            Map<OrderingKey, LockedKey> locked = new TreeMap<>();
            keys.lock(open, new TreeSet<>(byKey.keySet())).forEach(key -> locked.put(key.key(), key));
            return takeLocked(open, byKey, locked, choice);
        });
    }

    /** What stands in the way of one key must not stand in the way of the others. */
    private void note(Map<OrderingKey, List<Candidate>> byKey) throws SQLException {
        try {
            note(byKey.keySet());
        } catch (SQLException e) {
            if (!SqlState.lockTimeout(e)) {
                throw e;
            }
            for (OrderingKey key : List.copyOf(byKey.keySet())) {
                noteAlone(key, byKey);
            }
        }
    }

    private void noteAlone(OrderingKey key, Map<OrderingKey, List<Candidate>> byKey) throws SQLException {
        try {
            note(Set.of(key));
        } catch (SQLException e) {
            if (!SqlState.lockTimeout(e)) {
                throw e;
            }
            LOG.warn(
                    "The row of an ordering key is held by a transaction that does not end; its jobs wait for it"
                            + " (queue={}, key={})",
                    key.queue(),
                    key.text());
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

    private List<ClaimedRow> takeLocked(
            Connection open, Map<OrderingKey, List<Candidate>> byKey, Map<OrderingKey, LockedKey> locked, Choice choice)
            throws SQLException {
        List<LockedKey> openKeys = new ArrayList<>();
        List<Integer> most = new ArrayList<>();
        byKey.forEach((key, candidates) -> {
            LockedKey row = locked.get(key);
            if (row != null && row.blockedBy() == null) {
                openKeys.add(row);
                most.add(choice.runLength(key.queue()));
            }
        });
        Map<Integer, List<Head>> heads = new HashMap<>();
        if (!openKeys.isEmpty()) {
            for (Head head : keys.heads(open, openKeys, most)) {
                heads.computeIfAbsent(head.key(), key -> new ArrayList<>()).add(head);
            }
        }
        for (int i = 0; i < openKeys.size(); i++) {
            LockedKey key = openKeys.get(i);
            choice.consider(key, heads.getOrDefault(i, List.of()), byKey.getOrDefault(key.key(), List.of()));
        }
        choice.give(shares, ROWS);
        locked.keySet().forEach(key -> choice.park(byKey.getOrDefault(key, List.of())));
        return choice.isEmpty() ? List.of() : sql.take(open, claimant, choice.runs(), choice.parked());
    }

    private void moveWatermarks(Candidates candidates, List<LaneScan> scans, List<Lane> scanned, Choice choice) {
        Set<Long> gone = new HashSet<>(choice.parked());
        choice.runs().forEach(run -> gone.addAll(run.ids()));
        Map<Integer, List<Candidate>> byLane = new HashMap<>();
        candidates
                .jobs()
                .forEach(job -> byLane.computeIfAbsent(job.lane(), lane -> new ArrayList<>())
                        .add(job));
        for (int i = 0; i < scans.size(); i++) {
            List<Candidate> seen = byLane.getOrDefault(i, List.of());
            lanes.raise(
                    scanned.get(i),
                    seen.stream()
                            .filter(job -> !gone.contains(job.id()))
                            .findFirst()
                            .map(Candidate::runAt)
                            .orElse(
                                    seen.size() < scans.get(i).most()
                                            ? candidates.askedAt()
                                            : seen.get(seen.size() - 1).runAt()));
        }
    }

    private List<Run> runs(List<ClaimedRow> rows, long askedAt) {
        Map<OrderingKey, List<LeasedJob>> byKey = new LinkedHashMap<>();
        for (ClaimedRow row : rows) {
            byKey.computeIfAbsent(
                            new OrderingKey(row.lane().queue(), String.valueOf(row.orderingKey())),
                            key -> new ArrayList<>())
                    .add(new LeasedJob(row, lanes.binding(row), askedAt));
        }
        List<Run> runs = new ArrayList<>();
        byKey.values().forEach(jobs -> runs.add(new Run(jobs)));
        return runs;
    }
}
