package io.rowlock.internal.engine;

import io.rowlock.internal.alert.Deliveries;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import io.rowlock.worker.HandlerBinding;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
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
     * The watermark of a lane is the run_at from which the next claim scans it. Claimed and finished rows leave dead
     * entries at the front of the index; while something pins the oldest snapshot, vacuum cannot remove them, and a scan
     * from the beginning walks them all again each time. The watermark skips them.
     *
     * Rows may commit a little behind it, as run_at is taken before the commit. So now and then, and whenever a worker has
     * little to do, a claim looks back by a slack. Not every time: where 50,000 jobs a second go through a lane, five
     * seconds of dead entries are 250,000 to walk (measured with a pinned snapshot: 22,000 jobs a second instead of 57,000).
     *
     * Invariants:
     * 1. It only says where to look first. Nothing is lost by a wrong one: the sweep walks every lane from its beginning
     *    (P2). New rows have a run_at of at least the database's time when they were written, so only transactions that
     *    stay open for longer than the slack commit rows behind it.
     * 2. It is a time of the database (the run_at of a claimed row, or the time of a statement), never of this JVM (P7).
     * 3. It goes up to the statement's time only if the scan of that lane came back short of what it asked for and was
     *    not cut by the limit of its share or queue; else to the run_at of its last claimed row.
     * 4. It goes down when a wake-up or a sweep names an earlier run_at, and is no higher than that after a claim that
     *    was under way meanwhile: its snapshot may be older than the commit.
     */
    private static final Duration SLACK = Duration.ofSeconds(5);

    private final List<Lane> lanes = new ArrayList<>();
    private final Map<Key, Lane> byKey = new HashMap<>();
    private boolean lookingBack = true;

    record Key(String queue, String kind, int priority) {
        static Key of(ClaimedRow row) {
            return new Key(row.lane().queue(), row.lane().kind(), row.lane().priority());
        }

        static Key of(LaneScan scan) {
            return new Key(scan.queue(), scan.kind(), scan.priority());
        }
    }

    /**
     * One queue, kind and priority: what the claimer scans. Its watermark is guarded by the monitor of its Lanes; what it
     * gave is for the claimer's thread.
     */
    static final class Lane {
        private final Key key;
        private final HandlerBinding<?> binding;
        private @Nullable Instant watermark;
        private @Nullable Instant loweredTo;
        private long served;
        private boolean plenty;

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

        /** The number of the last claim in which it gave a job, or 0. */
        long served() {
            return served;
        }

        void served(long claim) {
            served = claim;
        }

        /** Whether it gave as many as it was asked for when it was scanned last. */
        boolean hadPlenty() {
            return plenty;
        }

        void hadPlenty(boolean plenty) {
            this.plenty = plenty;
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

    /** Alerts have a queue of their own, which is no lane of other kinds. */
    private void add(Key key, HandlerBinding<?> binding) {
        if (!Deliveries.isLane(key.queue(), key.kind())) {
            return;
        }
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

    /** The lane of a key, or null if this worker has none. */
    @Nullable
    Lane lane(Key key) {
        return byKey.get(key);
    }

    /** Has scans begin at the watermarks from now on, or before them by the slack, as at first. */
    synchronized void lookBack(boolean back) {
        lookingBack = back;
    }

    /** A scan of one lane from its watermark, for at most so many rows. */
    synchronized LaneScan scan(Lane lane, int most) {
        lane.loweredTo = null;
        Instant since = lookingBack ? lane.since() : lane.watermark;
        return new LaneScan(lane.key().queue(), lane.key().kind(), lane.key().priority(), since, most);
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
        Lane lane = byKey.get(Key.of(row));
        if (lane == null) {
            throw new IllegalStateException("A job of a foreign lane was claimed (job=" + row.id() + ")");
        }
        return lane.binding();
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

    /** From where a claim scans a lane that looks back; what stands before it unowned is late. */
    synchronized @Nullable Instant since(Lane lane) {
        return lane.since();
    }
}
