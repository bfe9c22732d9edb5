package io.rowlock.internal.lease;

import io.rowlock.event.RowlockEvent.NamedLeaseLost;
import io.rowlock.internal.engine.Described;
import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.engine.Events;
import io.rowlock.internal.engine.Loop;
import io.rowlock.internal.sql.LeaseSql;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Two threads. One renews, over a connection of its own, all leases that have come to a third of their time in one statement; it
 * may hang in the network for a while. The other does nothing but look at the deadlines, so that a lease is over on time whatever
 * the first one waits for. What the application is to hear is called on threads of their own: no code but ours runs on these two.
 */
/** Keeps the leases of this process up, and notices when one is lost. */
final class Keeper {
    private static final Logger LOG = LoggerFactory.getLogger(Keeper.class);
    private static final int MOST = 500;
    private static final long IDLE = TimeUnit.MINUTES.toNanos(1);
    private static final long LOCKED_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);
    private static final Duration LEAST_ANSWER = Duration.ofMillis(250);
    private static final Duration MOST_ANSWER = Duration.ofSeconds(10);

    private final PromptConnections connections;
    private final LeaseSql sql;
    private final Events events;
    private final String holder;
    private final Set<HeldLease> held = ConcurrentHashMap.newKeySet();

    private @Nullable Loop renewal;
    private volatile @Nullable Loop watch;
    private @Nullable EngineConnection connection;
    private Duration answer = MOST_ANSWER;

    Keeper(ConnectionSource connections, LeaseSql sql, Events events, String holder) {
        this.connections = new PromptConnections(connections, MOST_ANSWER);
        this.sql = sql;
        this.events = events;
        this.holder = holder;
    }

    /** Keeps it up from now on. */
    void add(HeldLease lease) {
        held.add(lease);
        synchronized (this) {
            if (renewal == null) {
                renewal = started("lease-renewal", this::renew);
            }
            if (watch == null) {
                watch = started("lease-watch", this::look);
            }
            renewal.wakeNow();
            watch.wake();
        }
    }

    /** There only once its thread is: where none can be had, the next lease tries again. */
    private Loop started(String name, Loop.Step step) {
        Loop loop = new Loop(name, holder, events, step);
        loop.start();
        return loop;
    }

    /** One of them may be over sooner than the watching thread knows. */
    void limited() {
        Loop watching = watch;
        if (watching != null) {
            watching.wake();
        }
    }

    void forget(HeldLease lease) {
        held.remove(lease);
    }

    List<HeldLease> held() {
        return List.copyOf(held);
    }

    /** Ends both threads, if nothing is held. */
    void stop() {
        Loop first;
        Loop second;
        synchronized (this) {
            if (!held.isEmpty()) {
                return;
            }
            first = renewal;
            second = watch;
            renewal = null;
            watch = null;
            closeConnection();
        }
        if (first != null) {
            first.stop();
        }
        if (second != null) {
            second.stop();
        }
    }

    /** The failures of its loops. */
    synchronized List<FailingLoop> failing() {
        List<FailingLoop> failing = new ArrayList<>();
        if (renewal != null) {
            renewal.failing().ifPresent(failing::add);
        }
        if (watch != null) {
            watch.failing().ifPresent(failing::add);
        }
        return failing;
    }

    /** Why no renewal came in time. */
    synchronized String silence() {
        Optional<FailingLoop> failing = renewal == null ? Optional.empty() : renewal.failing();
        return failing.map(last ->
                        "no renewal was answered within its time to live; the last one failed: " + last.reason())
                .orElse("no renewal was answered within its time to live: this process stood still, or the database was"
                        + " silent");
    }

    /** A step of the watching thread: until the next deadline. */
    private long look() {
        long next = IDLE;
        for (HeldLease lease : held) {
            long left = lease.nanosLeft(); // notices when it is over
            next = left == 0 ? next : Math.min(next, left);
        }
        return next;
    }

    /** A step of the renewing thread: until the next renewal. */
    private long renew() throws SQLException {
        List<HeldLease> due = held.stream()
                .filter(lease -> lease.untilRenewal() <= 0 && lease.isHeld())
                .toList();
        boolean locked = false;
        for (int from = 0; from < due.size(); from += MOST) {
            locked |= renew(due.subList(from, Math.min(due.size(), from + MOST)));
        }
        if (held.isEmpty()) {
            closeIdleConnection();
        }
        long next = IDLE;
        for (HeldLease lease : held) {
            next = Math.min(next, lease.untilRenewal());
        }
        return Math.max(next, locked ? LOCKED_PAUSE : 1);
    }

    /** True if one was locked by somebody, and is to be tried again soon. */
    private boolean renew(List<HeldLease> leases) throws SQLException {
        List<LeaseSql.Held> rows = leases.stream().map(HeldLease::row).toList();
        List<Duration> times = leases.stream().map(HeldLease::timeToLive).toList();
        EngineConnection open = connection();
        long sentAt = System.nanoTime();
        Set<LeaseSql.Held> renewed = open.inTransaction(one -> {
            SessionSql.begin(one, answer.dividedBy(2), answer.multipliedBy(4));
            return sql.renew(one, holder, rows, times);
        });
        List<HeldLease> missing = new ArrayList<>();
        for (HeldLease lease : leases) {
            if (renewed.contains(lease.row())) {
                lease.renewed(sentAt);
            } else {
                missing.add(lease);
            }
        }
        return !missing.isEmpty() && anyLocked(open, missing);
    }

    private boolean anyLocked(EngineConnection open, List<HeldLease> missing) throws SQLException {
        List<LeaseSql.Held> rows = missing.stream().map(HeldLease::row).toList();
        Set<LeaseSql.Held> still = open.call(one -> sql.stillHeld(one, holder, rows));
        missing.stream()
                .filter(lease -> !still.contains(lease.row()))
                .forEach(lease -> lease.lose("its row says so: it ran out, was revoked, or another has taken it"));
        return !still.isEmpty();
    }

    /** One whose answers are waited for no longer than the shortest time to live allows. */
    private synchronized EngineConnection connection() {
        Duration shortest = MOST_ANSWER.multipliedBy(4);
        for (HeldLease lease : held) {
            shortest = lease.timeToLive().compareTo(shortest) < 0 ? lease.timeToLive() : shortest;
        }
        Duration quarter = shortest.dividedBy(4);
        Duration wanted = quarter.compareTo(LEAST_ANSWER) < 0 ? LEAST_ANSWER : quarter;
        EngineConnection open = connection;
        if (open == null || wanted.compareTo(answer) < 0) {
            closeConnection();
            answer = wanted;
            open = EngineConnection.withoutSession(connections.within(wanted), wanted);
            connection = open;
        }
        return open;
    }

    private synchronized void closeIdleConnection() {
        if (held.isEmpty()) {
            closeConnection();
        }
    }

    private synchronized void closeConnection() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    /** Tells of a loss, and calls what was to be called. */
    void lost(HeldLease lease, String reason, List<Runnable> calls) {
        held.remove(lease);
        Described.quietly(() -> LOG.warn(
                "A lease is lost; what works under it must stop, and its late writes are refused by its fence (lease={},"
                        + " token={}, holder={}): {}",
                lease.name(),
                lease.token(),
                holder,
                reason));
        if (!calls.isEmpty()) {
            callApart(lease.name(), calls);
        }
        callApart(lease.name(), List.of(() -> events.tell(new NamedLeaseLost(lease.name(), lease.token(), reason))));
    }

    /** On a thread of their own, one after another; where none can be had, on this one. */
    static void callApart(String name, List<Runnable> calls) {
        Runnable all = () -> calls.forEach(call -> callQuietly(name, call));
        try {
            Thread thread = new Thread(null, all, "rowlock-lease-lost-" + name, 0, false);
            thread.setDaemon(true);
            thread.start();
        } catch (RuntimeException | Error noThread) {
            all.run();
        }
    }

    private static void callQuietly(String name, Runnable call) {
        try {
            call.run();
        } catch (Throwable thrown) {
            Described.quietly(
                    () -> LOG.error("What was to be called when a lease is lost threw (lease={})", name, thrown));
        }
    }
}
