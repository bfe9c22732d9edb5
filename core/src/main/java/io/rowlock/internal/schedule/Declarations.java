package io.rowlock.internal.schedule;

import io.rowlock.alert.AlertCause;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.internal.outbox.RowOutbox;
import io.rowlock.internal.schedule.Firing.Fired;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.ScheduleOperationSql;
import io.rowlock.internal.sql.ScheduleOperationSql.Declared;
import io.rowlock.internal.sql.ScheduleOperationSql.ScheduleRow;
import io.rowlock.internal.sql.ScheduleOperationSql.Standing;
import io.rowlock.internal.sql.ScheduleSql.JobColumns;
import io.rowlock.internal.sql.ScheduleSql.TimingColumns;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import io.rowlock.schedule.Misfire;
import io.rowlock.schedule.Overlap;
import io.rowlock.schedule.Schedule;
import io.rowlock.schedule.ScheduleView;
import io.rowlock.schedule.Timing;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * What an old timing has missed is made up for by its own rules before a new one takes its place: an outage often ends with a
 * deploy. It is as if a worker had fired it just before, in the same transaction; what does not go into one goes into those
 * before it, and a process that dies between them leaves a row that stands further on, under its old timing.
 */

/** Writes declarations to rows; the higher revision wins. */
final class Declarations {
    private static final Logger LOG = LoggerFactory.getLogger(Declarations.class);
    private static final int TRIES = 10;

    private final ScheduleOperationSql sql;
    private final Firing firing;
    private final AlertSql alerts;
    private final RowOutbox outbox;

    Declarations(Names names, RowOutbox outbox) {
        this.sql = new ScheduleOperationSql(names);
        this.firing = new Firing(names);
        this.alerts = new AlertSql(names);
        this.outbox = outbox;
    }

    /**
     * What became of a declaration, to be told when its transaction is committed.
     *
     * @param again whether there are missed instants left: it is to be declared again, in another transaction
     * @param written whether a row was made or changed
     * @param made jobs of instants that the timing before had missed
     * @param clash why the content does not count, if the same revision has another
     * @param raised alerts
     */
    record Outcome(
            boolean again,
            boolean written,
            List<Enqueued> made,
            @Nullable String clash,
            List<AlertRaised> raised) {
        static Outcome of(boolean written, List<Enqueued> made) {
            return new Outcome(false, written, made, null, List.of());
        }
    }

    /** Checks everything, and writes the payload as JSON; sends no SQL. */
    <T> Declared read(@Nullable Schedule<T> schedule) {
        if (schedule == null) {
            throw new InvalidUseException("The schedule to declare must not be null");
        }
        Schedule.Rules rules = schedule.rules();
        TimingColumns timing = columns(schedule.timing());
        try {
            Times.of(timing);
        } catch (InvalidUseException e) {
            throw new InvalidUseException(e.getMessage() + " (schedule=" + schedule.name() + ")", e);
        }
        String subject = rules.subject();
        return new Declared(
                schedule.name(),
                rules.revision(),
                timing,
                new JobColumns(
                        schedule.kind().name(),
                        new StampedPayload(
                                        outbox.payload(schedule.kind(), schedule.payload()),
                                        schedule.kind().version())
                                .column(),
                        rules.queue(),
                        rules.priority().level(),
                        subject == null ? "schedule:" + schedule.name() : subject),
                rules.misfire().text(),
                rules.overlap().text());
    }

    private static TimingColumns columns(Timing timing) {
        if (timing instanceof Timing.Cron cron) {
            return new TimingColumns(cron.expression(), cron.zone().getId(), null, null);
        }
        return timing instanceof Timing.FixedRate rate
                ? new TimingColumns(null, null, rate.every(), null)
                : new TimingColumns(null, null, null, ((Timing.FixedDelay) timing).delay());
    }

    /** In the caller's transaction, to be repeated in further ones while the outcome says so. */
    Outcome declare(Connection open, Declared declared) throws SQLException {
        Times times = Times.of(declared.timing());
        for (int i = 0; i < TRIES; i++) {
            Optional<ScheduleRow> row = sql.lock(open, declared.name());
            if (row.isPresent()) {
                return declare(open, declared, row.get(), times);
            }
            if (sql.insert(open, declared, times.first(sql.now(open)))) {
                LOG.info("Schedule declared (schedule={}, {})", declared.name(), words(declared.timing()));
                return Outcome.of(true, List.of());
            }
        }
        throw new SQLException("A schedule was neither written nor found (schedule=" + declared.name() + ")", "40001");
    }

    private Outcome declare(Connection open, Declared declared, ScheduleRow row, Times times) throws SQLException {
        Declared present = tidy(row.declared());
        boolean removed = row.standing().removedAt() != null;
        if (declared.revision() <= present.revision()) {
            return leave(open, declared, present, removed);
        }
        if (!removed && declared.timing().equals(present.timing())) {
            return replace(open, declared, present, row.standing().nextAt(), List.of());
        }
        Optional<Fired> missed = makeUp(open, declared.name());
        List<Enqueued> made = missed.map(Fired::jobs).orElse(List.of());
        Standing standing = sql.lock(open, declared.name()).orElseThrow().standing();
        if (due(standing)) {
            if (missed.isPresent() || !due(row.standing())) {
                return new Outcome(true, false, made, null, List.of());
            }
            LOG.warn("What a schedule has missed is left out: it cannot be fired (schedule={})", declared.name());
        }
        return replace(open, declared, present, times.first(standing.now()), made);
    }

    private static boolean due(Standing standing) {
        return standing.pausedAt() == null
                && standing.nextAt() != null
                && !standing.nextAt().isAfter(standing.now());
    }

    private Outcome replace(
            Connection open, Declared declared, Declared present, @Nullable Instant next, List<Enqueued> made)
            throws SQLException {
        sql.replace(open, declared, next);
        LOG.info(
                "Schedule changed (schedule={}, revision={} after {}, {}, jobs of missed instants={})",
                declared.name(),
                declared.revision(),
                present.revision(),
                words(declared.timing()),
                made.size());
        return Outcome.of(true, made);
    }

    /**
     * Under the row's lock. Empty if nothing was fired: what cannot be read here, or the server refuses, keeps no declaration
     * from being written.
     */
    private Optional<Fired> makeUp(Connection open, String name) throws SQLException {
        Savepoint before = open.setSavepoint();
        try {
            Optional<Fired> fired = firing.fireAtOnce(open, name);
            open.releaseSavepoint(before);
            return fired.filter(done -> done.unreadable() == null);
        } catch (SQLException e) {
            if (SqlState.curedByTime(e)) {
                throw e;
            }
            open.rollback(before);
            LOG.warn("The server refused the jobs of what a schedule has missed (schedule={})", name, e);
            return Optional.empty();
        }
    }

    private Outcome leave(Connection open, Declared declared, Declared present, boolean removed) throws SQLException {
        boolean sameRevision = declared.revision() == present.revision();
        if (!removed && sameRevision && !withoutPayload(declared).equals(withoutPayload(present))) {
            String clash = clash(declared, present);
            LOG.warn("A schedule is {} (schedule={})", clash, declared.name());
            return new Outcome(
                    false,
                    false,
                    List.of(),
                    clash,
                    alerts.raise(open, AlertCause.SCHEDULE_NOT_FIRING, List.of(new Cause(declared.name(), 0, clash))));
        }
        if (declared.revision() < present.revision() || removed) {
            LOG.info(
                    "A schedule stays as it is: {} (schedule={}, revision={}, declared={})",
                    removed ? "it was removed, and only a higher revision brings it back" : "a newer revision counts",
                    declared.name(),
                    present.revision(),
                    declared.revision());
        } else if (!declared.equals(present)) {
            LOG.info(
                    "A schedule keeps the payload that its row has: the declared one is written otherwise, and its revision is the"
                            + " same (schedule={})",
                    declared.name());
        }
        return Outcome.of(false, List.of());
    }

    /** Equal payloads may be written in another order each time, as sets are, or name the time of the start. */
    private static Declared withoutPayload(Declared row) {
        JobColumns job = row.job();
        return new Declared(
                row.name(),
                row.revision(),
                row.timing(),
                new JobColumns(job.kind(), "", job.queue(), job.priority(), job.subject()),
                row.misfire(),
                row.overlap());
    }

    private static String clash(Declared declared, Declared present) {
        return "declared with other content under revision " + declared.revision() + ", and that does not count: kind "
                + declared.job().kind() + ", " + words(declared.timing()) + "; the row keeps kind "
                + present.job().kind() + ", " + words(present.timing())
                + ". If two applications share the name, give one of them another; if it was changed, raise its revision";
    }

    /** Rows of earlier versions have expressions as they were typed. */
    private static Declared tidy(Declared row) {
        TimingColumns timing = row.timing();
        return timing.cron() == null
                ? row
                : new Declared(
                        row.name(),
                        row.revision(),
                        new TimingColumns(timing.cron().strip().replaceAll("\\s+", " "), timing.zone(), null, null),
                        row.job(),
                        row.misfire(),
                        row.overlap());
    }

    /** A timing for people to read. */
    static String words(TimingColumns timing) {
        if (timing.cron() != null) {
            return "cron " + timing.cron() + ' ' + timing.zone();
        }
        Duration every = timing.every();
        return every != null ? "every " + every : "delay " + timing.delay();
    }

    static ScheduleView.Rules rules(Declared declared) {
        return new ScheduleView.Rules(
                misfire(declared.misfire()),
                overlap(declared.overlap()),
                declared.job().queue(),
                Priority.ofLevel(declared.job().priority()),
                declared.job().subject());
    }

    private static Misfire misfire(String text) {
        return text.equals(Misfire.ALL.text())
                ? Misfire.ALL
                : text.equals(Misfire.NONE.text()) ? Misfire.NONE : Misfire.ONCE;
    }

    private static Overlap overlap(String text) {
        return text.equals(Overlap.SKIP.text())
                ? Overlap.SKIP
                : text.equals(Overlap.QUEUE.text()) ? Overlap.QUEUE : Overlap.ALLOW;
    }
}
