package io.rowlock.internal.alert;

import io.rowlock.alert.AlertCause;
import io.rowlock.alert.AlertLimits;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.ClockCompared;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.QueueSql;
import io.rowlock.internal.sql.QueueSql.QueueRow;
import io.rowlock.internal.sql.WatchSql;
import io.rowlock.internal.sql.WatchSql.Front;
import io.rowlock.internal.sql.WatchSql.Horizon;
import io.rowlock.internal.sql.WatchSql.Lane;
import io.rowlock.internal.sql.WatchSql.Lost;
import io.rowlock.internal.sql.WatchSql.Pin;
import io.rowlock.job.Priority;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/*
 * What nobody does anything about in a transaction of its own is seen by looking only. Each look is one transaction: take the
 * lock, look, leave out what a person was told of lately, raise. The lock keeps ten workers from counting the same lag ten
 * times. Nothing depends on it, or on the looks.
 *
 * Own kinds and queues are the business of who has them: their lags and lost workers. Of a foreign kind nobody can know from
 * rows whether some worker handles it; that its oldest job is due for long, and that nobody is at work at the front of its lane,
 * is what can be seen, and what the alert says.
 */

/** Looks for what a person should know, for one worker. For one thread at a time. */
public final class Watchers {
    private static final int LEAST_BEHIND = 1_000;
    private static final int MOST_QUEUES = 10;

    /** Claims wait for the connection meanwhile. */
    private static final Duration LONGEST_LOOK = Duration.ofSeconds(2);

    private final WatchSql sql;
    private final QueueSql queues;
    private final AlertSql alerts;
    private final Worker worker;
    private final Clock clock;
    private final List<Lane> lanes = new ArrayList<>();
    private final Map<AlertCause, Look> looks = new EnumMap<>(AlertCause.class);
    private final Map<String, Held> horizons = new HashMap<>();

    /** @param clock this node's, which is only ever compared with the database's */
    public Watchers(Names names, AlertLimits limits, Worker worker, Clock clock) {
        this.sql = new WatchSql(names);
        this.queues = new QueueSql(names);
        this.alerts = new AlertSql(names);
        this.worker = worker;
        this.clock = clock;
        for (Priority priority : Priority.values()) {
            for (String queue : worker.queues()) {
                for (String kind : worker.kinds()) {
                    if (Deliveries.isLane(queue, kind)) {
                        lanes.add(new Lane(queue, kind, priority.level()));
                    }
                }
            }
        }
        addLooks(limits);
    }

    /**
     * Whose looks they are.
     *
     * @param id its incarnation
     * @param name its name
     */
    public record Worker(String id, String name, Set<String> queues, Set<String> kinds) {}

    /** Since when something has had the same horizon. */
    private record Held(String xmin, long since) {}

    @FunctionalInterface
    private interface Look {
        List<Cause> at(Connection open) throws SQLException;
    }

    private void addLooks(AlertLimits limits) {
        Duration unknownKind = limits.unknownKind();
        if (unknownKind != null) {
            looks.put(AlertCause.UNKNOWN_KIND, open -> unknownKinds(open, unknownKind));
        }
        Duration queueLag = limits.queueLag();
        if (queueLag != null) {
            looks.put(AlertCause.QUEUE_LAG, open -> lags(open, queueLag));
        }
        Duration snapshotPinned = limits.snapshotPinned();
        if (snapshotPinned != null) {
            looks.put(AlertCause.SNAPSHOT_PINNED, open -> pins(open, snapshotPinned));
        }
        Duration clockSkew = limits.clockSkew();
        if (clockSkew != null) {
            looks.put(AlertCause.CLOCK_SKEW, open -> skew(open, clockSkew));
        }
        Integer workersLost = limits.workersLost();
        if (workersLost != null) {
            looks.put(AlertCause.WORKER_LOST, open -> lost(open, workersLost));
        }
    }

    /** What is looked at. */
    public Set<AlertCause> causes() {
        return looks.keySet();
    }

    /**
     * Looks for one of {@link #causes}, and raises what is to be raised, in a READ COMMITTED transaction; a statement that takes
     * longer than 2 s is ended by the server.
     *
     * @return the rows that were made; empty if another process looks just now
     */
    public Optional<List<AlertRaised>> look(Connection open, AlertCause cause) throws SQLException {
        Look look = looks.get(cause);
        if (look == null || !sql.tryLock(open, LONGEST_LOOK)) {
            return Optional.empty();
        }
        Map<String, Cause> found = new LinkedHashMap<>(); // of one kind the first
        look.at(open).forEach(each -> found.putIfAbsent(each.kind(), each));
        if (!found.isEmpty()) {
            found.keySet().removeAll(sql.quiet(open, cause.text(), found.keySet()));
        }
        return Optional.of(found.isEmpty() ? List.of() : alerts.raise(open, cause, List.copyOf(found.values())));
    }

    private List<Cause> unknownKinds(Connection open, Duration limit) throws SQLException {
        List<Cause> causes = new ArrayList<>();
        byKind(sql.foreign(open, worker.queues(), worker.kinds(), limit))
                .forEach((kind, fronts) -> causes.add(new Cause(
                        kind,
                        fronts.get(0).job(),
                        "Nobody is at work on this kind, and a job of it is due " + listed(fronts, Watchers::place)
                                + "; does any worker handle the kind and serve the queue? " + worker.id()
                                + " does not")));
        return causes;
    }

    private List<Cause> lags(Connection open, Duration limit) throws SQLException {
        List<Cause> causes = new ArrayList<>();
        for (List<Front> fronts : byKind(sql.lags(open, lanes, limit)).values()) {
            Map<String, String> why = new HashMap<>();
            for (Front front : fronts.subList(0, Math.min(fronts.size(), MOST_QUEUES))) {
                why.put(front.queue(), why(queues.find(open, front.queue())));
            }
            causes.add(new Cause(
                    fronts.get(0).kind(),
                    fronts.get(0).job(),
                    "A job of this kind is due and not begun "
                            + listed(fronts, front -> place(front) + ": " + why.get(front.queue()))));
        }
        return causes;
    }

    /** One alert for each kind, as its row has a kind and no queue: of each queue the front that is due longest, the first first. */
    private static Map<String, List<Front>> byKind(List<Front> fronts) {
        Map<String, Map<String, Front>> first = new LinkedHashMap<>();
        fronts.stream()
                .sorted(Comparator.comparing(Front::since))
                .forEach(front -> first.computeIfAbsent(front.kind(), kind -> new LinkedHashMap<>())
                        .putIfAbsent(front.queue(), front));
        Map<String, List<Front>> byKind = new LinkedHashMap<>();
        first.forEach((kind, queues) -> byKind.put(kind, List.copyOf(queues.values())));
        return byKind;
    }

    private static String place(Front front) {
        return "since " + front.since() + " in queue " + front.queue();
    }

    private static String listed(List<Front> fronts, Function<Front, String> words) {
        return fronts.stream().limit(MOST_QUEUES).map(words).collect(Collectors.joining("; "))
                + (fronts.size() > MOST_QUEUES ? "; and in " + (fronts.size() - MOST_QUEUES) + " queues more" : "");
    }

    private static String why(Optional<QueueRow> queue) {
        return queue.filter(row -> row.pausedAt() != null)
                .map(row -> "the queue is paused since " + row.pausedAt() + " by " + row.pausedBy() + ", resume it")
                .orElse("are there enough workers, are their handlers slow, is a limit full?");
    }

    private List<Cause> pins(Connection open, Duration limit) throws SQLException {
        List<Cause> found = new ArrayList<>();
        sql.pins(open, limit).forEach(pin -> found.add(pin(pin)));
        found.addAll(stale(sql.horizons(open), limit, System.nanoTime()));
        return found;
    }

    private static Cause pin(Pin pin) {
        String who = pin.pid() == 0
                ? "Prepared transaction " + pin.name() + " (role=" + pin.owner() + ")"
                : "Backend " + pin.pid() + " (application=" + pin.name() + ", role=" + pin.owner() + ", state="
                        + pin.state() + ")";
        String how =
                pin.pid() == 0 ? "COMMIT PREPARED or ROLLBACK PREPARED" : "pg_terminate_backend(" + pin.pid() + ")";
        return new Cause(
                pin.what(),
                0,
                who + " has a transaction open since " + pin.since()
                        + "; no row that died since can be removed, in any table. End it: " + how);
    }

    /** A slot has no time: what counts is for how long its horizon has not moved, as seen from here. */
    List<Cause> stale(List<Horizon> now, Duration limit, long nanoTime) {
        List<Cause> stale = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (Horizon each : now) {
            String key = each.what() + ' ' + each.name();
            seen.add(key);
            Held held = horizons.get(key);
            if (held == null || !held.xmin().equals(each.xmin())) {
                horizons.put(key, new Held(each.xmin(), nanoTime));
            } else if (each.behind() > LEAST_BEHIND && nanoTime - held.since() > limit.toNanos()) {
                stale.add(new Cause(
                        each.what(),
                        0,
                        key + (each.connected() ? " (connected)" : " (not connected)") + " is "
                                + each.behind() + " transactions behind, and has not moved for "
                                + Duration.ofNanos(nanoTime - held.since()).toMinutes()
                                + " minutes; no row that died since can be removed, in any table. End what holds it"
                                + " there, or drop it"));
            }
        }
        horizons.keySet().retainAll(seen);
        return stale;
    }

    /** This clock beside the database's, which is taken to have been read in the middle of the round trip. */
    public ClockCompared compared(Connection open) throws SQLException {
        Instant before = clock.instant();
        Instant database = sql.now(open);
        Duration half = Duration.between(before, clock.instant()).dividedBy(2);
        return new ClockCompared(worker.id(), Duration.between(database, before.plus(half)), half.abs());
    }

    /** The answer was made between two readings of this clock: only what lies outside of them is a difference. */
    private List<Cause> skew(Connection open, Duration limit) throws SQLException {
        Instant before = clock.instant();
        Instant database = sql.now(open);
        Instant after = clock.instant();
        Duration ahead = Duration.between(database, before);
        Duration behind = Duration.between(after, database);
        Duration skew = ahead.compareTo(behind) > 0 ? ahead : behind;
        if (skew.compareTo(limit) <= 0) {
            return List.of();
        }
        return List.of(new Cause(
                worker.name(),
                0,
                "The clock of worker " + worker.id() + " is " + skew.toMillis() + " ms "
                        + (ahead.compareTo(behind) > 0 ? "ahead of" : "behind")
                        + " the database's. No lease and no schedule depends on it, but what the application does with"
                        + " its own clock may"));
    }

    private List<Cause> lost(Connection open, int limit) throws SQLException {
        return sql.lost(open, worker.kinds(), limit).stream()
                .map(Watchers::lost)
                .toList();
    }

    private static Cause lost(Lost lost) {
        return new Cause(
                lost.kind(),
                lost.job(),
                "Within an hour jobs of this kind lost their workers " + lost.times() + " times (jobs=" + lost.jobs()
                        + ", one of the workers=" + lost.worker()
                        + "); do its handlers kill their process, stop it for longer than a lease, or is it killed?");
    }
}
