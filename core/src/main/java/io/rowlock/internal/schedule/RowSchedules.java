package io.rowlock.internal.schedule;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.event.RowlockEvent.ScheduleNotFired;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.outbox.RowOutbox;
import io.rowlock.internal.schedule.Declarations.Outcome;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.internal.sql.ScheduleOperationSql;
import io.rowlock.internal.sql.ScheduleOperationSql.Declared;
import io.rowlock.internal.sql.ScheduleOperationSql.ScheduleRow;
import io.rowlock.internal.sql.ScheduleOperationSql.Standing;
import io.rowlock.internal.sql.ScheduleSql;
import io.rowlock.job.By;
import io.rowlock.job.Enqueued;
import io.rowlock.schedule.Overlap;
import io.rowlock.schedule.Schedule;
import io.rowlock.schedule.ScheduleView;
import io.rowlock.schedule.Schedules;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.Waker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Schedules as rows: declared, looked up, and changed by people. */
public final class RowSchedules implements Schedules {
    private static final Logger LOG = LoggerFactory.getLogger(RowSchedules.class);
    private static final int LARGEST_PAGE = 1_000;

    private final ScheduleOperationSql sql;
    private final Declarations declarations;
    private final ScheduleSql firings;
    private final ScheduledJobs jobs;
    private final ConnectionSource connections;
    private final AccessPolicy policy;
    private final Waker waker;
    private final RowlockListener listener;
    private final Runnable changed;

    /**
     * Schedules on connections of the data source.
     *
     * @param outbox how payloads are written
     * @param policy asked before each change by a person
     * @param waker told of jobs that have committed
     * @param listener told what a declaration did
     * @param changed called when a schedule may be due that was not before
     */
    public RowSchedules(
            Names names,
            ConnectionSource connections,
            RowOutbox outbox,
            AccessPolicy policy,
            Waker waker,
            RowlockListener listener,
            Runnable changed) {
        this.sql = new ScheduleOperationSql(names);
        this.policy = policy;
        this.declarations = new Declarations(names, outbox);
        this.firings = new ScheduleSql(names);
        this.jobs = new ScheduledJobs(names);
        this.connections = connections;
        this.waker = waker;
        this.listener = listener;
        this.changed = changed;
    }

    /** Throws where a schedule cannot be declared; sends no SQL. */
    public void check(Schedule<?> schedule) {
        declarations.read(schedule);
    }

    /** Declares the schedules of a worker that starts. */
    public void declare(Connection connection, List<Schedule<?>> schedules) throws SQLException {
        for (Schedule<?> each : schedules) {
            write(connection, declarations.read(each));
        }
        if (!schedules.isEmpty()) {
            changed.run();
        }
    }

    @Override
    public boolean declare(Schedule<?> schedule) {
        Declared declared = declarations.read(schedule);
        boolean written;
        try (Connection connection = connections.get()) {
            written = write(connection, declared);
        } catch (SQLException e) {
            throw failed("declared", e);
        }
        if (written) {
            changed.run();
        }
        return written;
    }

    private boolean write(Connection connection, Declared declared) throws SQLException {
        Outcome outcome;
        do {
            outcome = OwnTransaction.run(connection, open -> declarations.declare(open, declared));
            tell(declared.name(), outcome);
        } while (outcome.again());
        return outcome.written();
    }

    private void tell(String name, Outcome outcome) {
        if (!outcome.made().isEmpty()) {
            waker.wake(outcome.made());
            listener.on(new ScheduleFired(name, outcome.made()));
        }
        if (outcome.clash() != null) {
            listener.on(new ScheduleNotFired(name, outcome.clash()));
        }
        outcome.raised().forEach(listener::on);
    }

    @Override
    public Optional<ScheduleView> find(String name) {
        checkName(name);
        return read(open -> sql.find(open, name)).map(RowSchedules::view);
    }

    @Override
    public List<ScheduleView> all(@Nullable String after, int most) {
        if (most < 1 || most > LARGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LARGEST_PAGE + ", got " + most);
        }
        return read(open -> sql.page(open, after, most)).stream()
                .map(RowSchedules::view)
                .toList();
    }

    @Override
    public boolean pause(String name, By by) {
        check(Action.PAUSE, name, by);
        boolean paused = inTransaction("paused", open -> {
            boolean begun = sql.pause(open, name, by.who());
            if (begun) {
                sql.record(open, name, "pause", by, null);
            }
            return begun;
        });
        LOG.info("Pause of a schedule: {} (schedule={}, by={}): {}", paused, name, by.who(), by.why());
        return paused;
    }

    @Override
    public boolean resume(String name, By by) {
        check(Action.RESUME, name, by);
        boolean resumed = inTransaction("resumed", open -> {
            Optional<ScheduleRow> row =
                    sql.lock(open, name).filter(found -> found.standing().pausedAt() != null);
            if (row.isPresent()) {
                sql.resume(open, name, afterPause(row.get()));
                sql.record(open, name, "resume", by, null);
            }
            return row.isPresent();
        });
        LOG.info("Resume of a schedule: {} (schedule={}, by={}): {}", resumed, name, by.who(), by.why());
        if (resumed) {
            changed.run();
        }
        return resumed;
    }

    private static @Nullable Instant afterPause(ScheduleRow row) {
        Times times = Times.of(row.declared().timing());
        Instant now = row.standing().now();
        Instant next = row.standing().nextAt();
        if (times.afterTheEnd()) {
            return next == null || next.isAfter(now) ? next : now;
        }
        if (next == null) {
            return times.first(now);
        }
        return next.isAfter(now) ? next : times.following(times.lastUntil(next, now));
    }

    @Override
    public Optional<Enqueued> runNow(String name, By by) {
        check(Action.RUN, name, by);
        Optional<Enqueued> job = inTransaction("run", open -> {
            Optional<ScheduleRow> row =
                    sql.lock(open, name).filter(found -> found.standing().removedAt() == null);
            return row.isEmpty() ? Optional.empty() : Optional.of(runNow(open, row.get(), by));
        });
        LOG.info(
                "Run of a schedule by hand: {} (schedule={}, by={}): {}",
                job.map(made -> "job " + made.id()).orElse("there is none"),
                name,
                by.who(),
                by.why());
        job.ifPresent(made -> {
            waker.wake(List.of(made));
            changed.run();
        });
        return job;
    }

    private Enqueued runNow(Connection open, ScheduleRow row, By by) throws SQLException {
        Declared declared = row.declared();
        Instant now = row.standing().now();
        boolean delayed = declared.timing().delay() != null;
        boolean inTurn = declared.overlap().equals(Overlap.QUEUE.text()) && !delayed;
        Long last = row.standing().lastJob();
        boolean beside = last != null
                && (delayed || declared.overlap().equals(Overlap.SKIP.text()))
                && firings.unfinished(open, declared.name(), last);
        Enqueued made = jobs.write(open, declared.name(), declared.job(), inTurn, List.of(now))
                .get(0);
        sql.ran(open, declared.name(), now, beside ? null : made.id());
        sql.record(open, declared.name(), "run now", by, made.id());
        return made;
    }

    @Override
    public boolean remove(String name, By by) {
        check(Action.REMOVE, name, by);
        boolean removed = inTransaction("removed", open -> {
            boolean done = sql.remove(open, name);
            if (done) {
                sql.record(open, name, "remove", by, null);
            }
            return done;
        });
        LOG.info("Removal of a schedule: {} (schedule={}, by={}): {}", removed, name, by.who(), by.why());
        return removed;
    }

    private void check(Action action, String name, @Nullable By by) {
        checkName(name);
        if (by == null) {
            throw new InvalidUseException("Say who does it, and why: by must not be null");
        }
        Leave.require(policy, Access.of(action, Target.SCHEDULE, by, name));
    }

    private static void checkName(@Nullable String name) {
        if (name == null) {
            throw new InvalidUseException("The name of a schedule must not be null");
        }
    }

    private <T> T read(OwnTransaction.Work<T> work) {
        try (Connection connection = connections.get()) {
            return work.over(connection);
        } catch (SQLException e) {
            throw new DatabaseException("Schedules could not be looked up", e);
        }
    }

    private <T> T inTransaction(String what, OwnTransaction.Work<T> work) {
        try (Connection connection = connections.get()) {
            return OwnTransaction.run(connection, work);
        } catch (SQLException e) {
            throw failed(what, e);
        }
    }

    private static DatabaseException failed(String what, SQLException e) {
        return new DatabaseException(
                "The schedule could not be " + what + "; if another transaction holds its row, try again later", e);
    }

    private static ScheduleView view(ScheduleRow row) {
        Declared declared = row.declared();
        Standing standing = row.standing();
        return new ScheduleView(
                declared.name(),
                declared.revision(),
                Declarations.words(declared.timing()),
                declared.job().kind(),
                Declarations.rules(declared),
                new ScheduleView.Course(
                        standing.nextAt(),
                        standing.lastAt(),
                        standing.lastJob(),
                        standing.pausedAt(),
                        standing.pausedBy(),
                        standing.removedAt(),
                        standing.error()));
    }
}
