package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.LimitSql;
import io.rowlock.internal.sql.LimitSql.LockedLimit;
import io.rowlock.internal.sql.PromoteSql;
import io.rowlock.internal.sql.PromoteSql.Promotion;
import io.rowlock.internal.sql.PromoteSql.Visited;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Walks the limits by time: where slots have become free because their time is over, or a window has begun anew, or a
 * limit was made larger or taken away, parked jobs become ready (promise P2). Where nothing is limited it looks seldom.
 */
final class LimitSweeper {
    private static final int VISITS = 300;
    private static final int UNLIMITED_TURNS = 60;
    private static final int MOST_PROMOTED = 1_000;
    private static final int MOST_PROMOTED_TOGETHER = 5_000;
    private static final int MOST_EARLY = 50;
    private static final LimitKey BEGINNING = LimitKey.of("");

    private final EngineConnection connection;
    private final LimitSql sql;
    private final PromoteSql promotes;
    private final Limits limits;
    private final Map<String, Integer> own;
    private LimitKey lastVisited = BEGINNING;
    private Set<String> before = Set.of();
    private boolean leftOver = true;
    private boolean seenParked;
    private int turn;

    /** @param own the queues of this worker, and how many handlers of each it runs at once */
    LimitSweeper(EngineConnection connection, EngineSql sql, Limits limits, Map<String, Integer> own) {
        this.connection = connection;
        this.sql = sql.limits();
        this.promotes = sql.promotes();
        this.limits = limits;
        this.own = own;
    }

    /**
     * One step through the limits, for those with parked jobs and room, and for those that nobody has used for an hour, or
     * of which a worker has not been heard of for so long.
     *
     * @return in how long each job that was made ready is due
     */
    List<Duration> step() throws SQLException {
        leftOver |= !limits.limited().containsAll(before);
        before = limits.limited();
        if (limits.limited().isEmpty() && !leftOver && turn++ % UNLIMITED_TURNS != 0) {
            return List.of();
        }
        List<Visited> visited = connection.call(open -> promotes.visit(open, lastVisited, VISITS));
        lastVisited = visited.size() < VISITS
                ? BEGINNING
                : visited.get(visited.size() - 1).key();
        seenParked |= visited.stream()
                .anyMatch(each -> each.parked() && own.containsKey(each.key().queue()));
        if (visited.size() < VISITS) {
            leftOver = seenParked;
            seenParked = false;
        }
        TreeSet<LimitKey> parked = new TreeSet<>();
        TreeSet<LimitKey> idle = new TreeSet<>();
        for (Visited each : visited) {
            if (each.parked() && own.containsKey(each.key().queue())) {
                parked.add(each.key());
            } else if (each.idle()) {
                idle.add(each.key());
            }
        }
        TreeSet<LimitKey> leftBehind = visited.stream()
                .filter(Visited::leftBehind)
                .map(Visited::key)
                .collect(Collectors.toCollection(TreeSet::new));
        if (parked.isEmpty() && idle.isEmpty() && leftBehind.isEmpty()) {
            return List.of();
        }
        return connection.inTransaction(open -> {
            TreeSet<LimitKey> all = new TreeSet<>(parked);
            all.addAll(idle);
            all.addAll(leftBehind);
            List<LockedLimit> locked = sql.lock(open, List.copyOf(all));
            if (!leftBehind.isEmpty()) {
                promotes.forget(
                        open,
                        locked.stream()
                                .map(LockedLimit::key)
                                .filter(leftBehind::contains)
                                .toList());
            }
            promotes.drop(
                    open,
                    locked.stream().filter(each -> idle.contains(each.key())).toList());
            return limits.promote(
                    open,
                    promotions(locked.stream()
                            .filter(each -> parked.contains(each.key()))
                            .toList()));
        });
    }

    /**
     * The same for limit keys of which this worker knows that a window of their rate has begun, where it sweeps seldom.
     *
     * @return in how long each job that was made ready is due
     */
    List<Duration> stepWindows() throws SQLException {
        TreeSet<LimitKey> begun = new TreeSet<>(limits.begunWindows(VISITS));
        if (begun.isEmpty()) {
            return List.of();
        }
        return connection.inTransaction(open -> {
            List<LockedLimit> locked = sql.lock(open, List.copyOf(begun));
            locked.forEach(each -> begun.remove(each.key()));
            begun.forEach(limits::triesAgain);
            return limits.promote(open, promotions(locked));
        });
    }

    private List<Promotion> promotions(List<LockedLimit> locked) {
        return locked.stream()
                .map(each -> new Promotion(
                        each,
                        most(each.key()),
                        mostOfRate(each.key(), locked.size()),
                        MOST_EARLY,
                        limits.runs(each.key()),
                        limits.turns().of(each.key())))
                .toList();
    }

    /** What a window has left is to be had, however few handlers this worker has; but no step has too many jobs. */
    private int mostOfRate(LimitKey key, int limits) {
        return Math.max(most(key), Math.min(MOST_PROMOTED, MOST_PROMOTED_TOGETHER / limits));
    }

    private int most(LimitKey key) {
        return Math.min(MOST_PROMOTED, own.getOrDefault(key.queue(), 0));
    }
}
