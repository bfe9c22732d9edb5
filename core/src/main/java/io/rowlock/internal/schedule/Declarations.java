package io.rowlock.internal.schedule;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.RowOutbox;
import io.rowlock.internal.sql.ScheduleOperationSql;
import io.rowlock.internal.sql.ScheduleOperationSql.Declared;
import io.rowlock.internal.sql.ScheduleOperationSql.ScheduleRow;
import io.rowlock.internal.sql.ScheduleSql.JobColumns;
import io.rowlock.internal.sql.ScheduleSql.TimingColumns;
import io.rowlock.job.Priority;
import io.rowlock.schedule.Misfire;
import io.rowlock.schedule.Overlap;
import io.rowlock.schedule.Schedule;
import io.rowlock.schedule.ScheduleView;
import io.rowlock.schedule.Timing;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes declarations to rows; the higher revision wins. */
final class Declarations {
    private static final Logger LOG = LoggerFactory.getLogger(Declarations.class);
    private static final int TRIES = 10;

    private final ScheduleOperationSql sql;
    private final RowOutbox outbox;

    Declarations(ScheduleOperationSql sql, RowOutbox outbox) {
        this.sql = sql;
        this.outbox = outbox;
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

    /** True if a row was made or changed. */
    boolean declare(Connection open, Declared declared) throws SQLException {
        Times times = Times.of(declared.timing());
        for (int i = 0; i < TRIES; i++) {
            Optional<ScheduleRow> row = sql.lock(open, declared.name());
            if (row.isPresent()) {
                return declare(open, declared, row.get(), times);
            }
            if (sql.insert(open, declared, times.first(sql.now(open)))) {
                LOG.info("Schedule declared (schedule={}, {})", declared.name(), words(declared.timing()));
                return true;
            }
        }
        throw new SQLException("A schedule was neither written nor found (schedule=" + declared.name() + ")", "40001");
    }

    private boolean declare(Connection open, Declared declared, ScheduleRow row, Times times) throws SQLException {
        Declared present = row.declared();
        boolean removed = row.standing().removedAt() != null;
        if (declared.revision() <= present.revision()) {
            leave(declared, present, removed);
            return false;
        }
        boolean sameTimes = !removed && declared.timing().equals(present.timing());
        Instant next =
                sameTimes ? row.standing().nextAt() : times.first(row.standing().now());
        sql.replace(open, declared, next);
        LOG.info(
                "Schedule changed (schedule={}, revision={} after {}, {})",
                declared.name(),
                declared.revision(),
                present.revision(),
                words(declared.timing()));
        return true;
    }

    private static void leave(Declared declared, Declared present, boolean removed) {
        if (declared.revision() == present.revision() && !declared.equals(present)) {
            LOG.warn(
                    "A schedule is declared with other content under the same revision; the row stays as it is. Raise the"
                            + " revision with every change (schedule={}, revision={})",
                    declared.name(),
                    declared.revision());
        } else if (declared.revision() < present.revision() || removed) {
            LOG.info(
                    "A schedule stays as it is: {} (schedule={}, revision={}, declared={})",
                    removed ? "it was removed, and only a higher revision brings it back" : "a newer revision counts",
                    declared.name(),
                    present.revision(),
                    declared.revision());
        }
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
