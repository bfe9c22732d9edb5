package io.rowlock.internal.schedule;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.ScheduleSql.TimingColumns;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/** The instants of a schedule, as its row says them. Immutable. */
final class Times {
    private static final Duration FINEST = Duration.ofSeconds(1);

    private final @Nullable CronTimes cron;
    private final Duration interval;
    private final boolean afterTheEnd;

    private Times(@Nullable CronTimes cron, Duration interval, boolean afterTheEnd) {
        this.cron = cron;
        this.interval = interval;
        this.afterTheEnd = afterTheEnd;
    }

    /**
     * Reads a row's columns.
     *
     * @throws InvalidUseException if this version, or this Java's list of time zones, cannot read them
     */
    static Times of(TimingColumns timing) {
        if (timing.cron() != null && timing.zone() != null) {
            return new Times(CronTimes.of(timing.cron(), zone(timing.zone())), Duration.ZERO, false);
        }
        Duration interval = timing.every() != null ? timing.every() : timing.delay();
        if (interval == null || interval.isZero() || interval.isNegative()) {
            throw new InvalidUseException("The schedule says neither a cron expression nor an interval");
        }
        return new Times(null, interval, timing.every() == null);
    }

    private static ZoneId zone(String id) {
        try {
            return ZoneId.of(id);
        } catch (DateTimeException e) {
            throw new InvalidUseException("The time zone " + id + " is not known to this Java: " + e.getMessage(), e);
        }
    }

    /** Whether an instant is known only when the job before has finished. */
    boolean afterTheEnd() {
        return afterTheEnd;
    }

    /** The first instant of a schedule that begins now. */
    Instant first(Instant now) {
        return following(now);
    }

    /** The instant after another one. */
    Instant following(Instant instant) {
        if (cron == null) {
            return instant.plus(interval);
        }
        return cron.next(instant)
                .orElseThrow(() -> new InvalidUseException("The cron expression does not come again after " + instant));
    }

    /**
     * The last instant until now, of those from one on that is due. By halving, as a schedule of every second may have been
     * at rest for months: later the further on one looks, the next instant after a time is due before a point, and not after it.
     */
    Instant lastUntil(Instant due, Instant now) {
        if (cron == null) {
            return afterTheEnd
                    ? due
                    : due.plus(interval.multipliedBy(Duration.between(due, now).dividedBy(interval)));
        }
        if (following(due).isAfter(now)) {
            return due;
        }
        Instant before = due;
        Instant beyond = now;
        while (Duration.between(before, beyond).compareTo(FINEST) > 0) {
            Instant middle = before.plus(Duration.between(before, beyond).dividedBy(2));
            if (following(middle).isAfter(now)) {
                beyond = middle;
            } else {
                before = middle;
            }
        }
        return following(before);
    }
}
