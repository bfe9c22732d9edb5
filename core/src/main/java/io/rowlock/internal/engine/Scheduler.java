package io.rowlock.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.event.RowlockEvent.ScheduleNotFired;
import io.rowlock.internal.schedule.Firing;
import io.rowlock.internal.schedule.Firing.Fired;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.ScheduleSql;
import io.rowlock.internal.sql.ScheduleSql.Seen;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.spi.Waker;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One schedule that cannot fire keeps no other from it:
 *
 *   its row is locked, or the database is short of something    left where it is, and looked at again in a second
 *   this version cannot read it (an expression, a time zone)     left to other workers, and looked at again in a minute
 *   the server refuses its jobs                                  the row says why, and when it is tried again; an alert
 *
 * Of the first two an alert is raised when the instant is overdue by five minutes: until then another worker may do it.
 */

/** Fires what is due: any schedule of the database, whoever declared it. For one thread. */
final class Scheduler {
    private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);
    private static final int MOST = 100;
    private static final int LONGEST_ERROR = 1_000;
    private static final long IDLE = TimeUnit.SECONDS.toNanos(10);
    private static final long SOON = TimeUnit.SECONDS.toNanos(1);
    private static final long AFTER_ROUNDING = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LEFT_TO_OTHERS = TimeUnit.MINUTES.toNanos(1);
    private static final long LASTING = TimeUnit.SECONDS.toNanos(3);
    private static final long SELDOM = TimeUnit.MINUTES.toNanos(10);

    private final EngineConnection connection;
    private final ScheduleSql sql;
    private final Firing firing;
    private final AlertSql alerts;
    private final Events events;
    private final Waker committed;
    private final Map<String, Missed> missed = new HashMap<>();
    private volatile boolean lookAnew;

    Scheduler(EngineConnection connection, Names names, AlertSql alerts, Events events, Waker committed) {
        this.connection = connection;
        this.sql = new ScheduleSql(names);
        this.firing = new Firing(names);
        this.alerts = alerts;
        this.events = events;
        this.committed = committed;
    }

    /** A due schedule that could not be fired: since when, until when it is not looked at, when an alert told of it. */
    private record Missed(long since, long until, long toldAt) {
        boolean setAside(long now) {
            return until - now > 0;
        }
    }

    /** Schedules have changed here: those that could not be fired are looked at anew. By any thread. */
    void lookAnew() {
        lookAnew = true;
    }

    /** Fires what is due; gives for how long to pause, unless a schedule changes. */
    long step() throws SQLException {
        return step(false).pause();
    }

    /** For workers cranked by hand: fires until nothing is due; true if a job was made. */
    boolean fireAllDue() throws SQLException {
        boolean made = false;
        Round round = step(true);
        while (round.fired() > 0) {
            made |= round.made();
            round = step(true);
        }
        return made;
    }

    private record Round(int fired, boolean made, long pause) {}

    private Round step(boolean byHand) throws SQLException {
        long now = System.nanoTime();
        if (lookAnew) {
            lookAnew = false;
            missed.replaceAll((name, each) -> new Missed(each.since(), now, each.toldAt()));
        }
        long waiting = connection.call(sql::endDelays);
        Set<String> aside = new HashSet<>();
        missed.forEach((name, each) -> {
            if (each.setAside(now)) {
                aside.add(name);
            }
        });
        List<Seen> seen = connection.call(open -> sql.look(open, aside, MOST));
        int fired = 0;
        boolean made = false;
        Set<String> stillMissed = new HashSet<>(aside);
        for (Seen each : seen) {
            if (each.due()) {
                Optional<Fired> done = fire(each);
                fired += done.isPresent() ? 1 : 0;
                made |= done.isPresent() && !done.get().jobs().isEmpty();
                if (done.isEmpty()) {
                    stillMissed.add(each.name());
                }
            }
        }
        missed.keySet().retainAll(stillMissed);
        return new Round(fired, made, byHand ? 0 : pause(seen, fired, waiting));
    }

    private long pause(List<Seen> seen, int fired, long waiting) {
        if (fired > 0) {
            return 0; // there may be more, and what was fired is due again some time
        }
        long pause = waiting > 0 || !missed.isEmpty() ? SOON : IDLE;
        for (Seen each : seen) {
            if (!each.due()) {
                pause = Math.min(pause, each.distance().toNanos() + AFTER_ROUNDING);
            }
        }
        return pause;
    }

    /** Empty if it could not be fired, or another worker did. */
    private Optional<Fired> fire(Seen seen) throws SQLException {
        Optional<Fired> fired;
        try {
            fired = connection.inTransaction(open -> firing.fire(open, seen.name()));
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                throw e;
            }
            if (SqlState.curedByTime(e)) {
                miss(seen, 0, Described.message(e));
            } else {
                refused(seen, e);
            }
            return Optional.empty();
        }
        String unreadable = fired.isPresent() ? fired.get().unreadable() : null;
        if (fired.isEmpty()) {
            miss(seen, 0, "its row is locked by another transaction");
        } else if (unreadable != null) {
            miss(seen, LEFT_TO_OTHERS, unreadable);
            return Optional.empty();
        } else if (!fired.get().jobs().isEmpty()) {
            LOG.debug(
                    "Schedule fired (schedule={}, jobs={})",
                    seen.name(),
                    fired.get().jobs().size());
            committed.wake(fired.get().jobs());
            events.tell(new ScheduleFired(seen.name(), fired.get().jobs()));
        }
        return fired;
    }

    private void miss(Seen seen, long aside, String why) throws SQLException {
        long now = System.nanoTime();
        Missed before = missed.get(seen.name());
        long since = before == null ? now : before.since();
        long toldAt = before == null ? now - SELDOM : before.toldAt();
        boolean lasts = seen.overdue() && (aside > 0 || now - since > LASTING);
        if (lasts && now - toldAt >= SELDOM) {
            toldAt = now;
            raise(seen.name(), why);
        }
        missed.put(seen.name(), new Missed(since, now + aside, toldAt));
    }

    private void raise(String name, String why) throws SQLException {
        LOG.warn("A schedule is overdue by minutes and cannot fire (schedule={}): {}", name, why);
        tell(
                name,
                why,
                () -> connection.inTransaction(open -> {
                    sql.noteError(open, name, cut(why));
                    return Optional.of(raise(open, name, cut(why)));
                }));
    }

    private void refused(Seen seen, SQLException refusal) throws SQLException {
        String why = cut("The server refused its jobs: " + Described.message(refusal));
        LOG.warn("A schedule could not fire; it is tried again later (schedule={}): {}", seen.name(), why);
        tell(
                seen.name(),
                why,
                () -> connection.inTransaction(open -> sql.failed(open, seen.name(), why)
                        ? Optional.of(raise(open, seen.name(), why))
                        : Optional.empty()));
        missed.put(seen.name(), new Missed(System.nanoTime(), System.nanoTime() + IDLE, System.nanoTime()));
    }

    private List<AlertRaised> raise(Connection open, String name, String why) throws SQLException {
        return alerts.raise(open, AlertCause.SCHEDULE_NOT_FIRING, List.of(new Cause(name, 0, why)));
    }

    /** Writes it; empty if another worker did meanwhile. */
    @FunctionalInterface
    private interface Telling {
        Optional<List<AlertRaised>> tell() throws SQLException;
    }

    private void tell(String name, String why, Telling telling) throws SQLException {
        try {
            telling.tell().ifPresent(raised -> {
                events.tell(new ScheduleNotFired(name, why));
                raised.forEach(events::tell);
            });
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                throw e;
            }
            LOG.warn("Why a schedule cannot fire could not be written; tried again later (schedule={})", name, e);
        }
    }

    private static String cut(String text) {
        String stored = text.replace('\0', ' ');
        return stored.length() > LONGEST_ERROR ? stored.substring(0, LONGEST_ERROR) : stored;
    }
}
