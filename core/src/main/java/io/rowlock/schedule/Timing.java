package io.rowlock.schedule;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** When a schedule makes its jobs. */
public sealed interface Timing {
    /**
     * At the times of a cron expression on the clocks of a time zone.
     *
     * <p>An expression that names hours means times on the wall: each comes once per local date; one that is left out when
     * clocks are put forward comes at the end of the gap, one that comes twice when they are put back counts the first time. An
     * expression of every hour, one that names all 24 of them however it is written, goes on in real time.
     *
     * <p>Of five fields that name days of the month and days of the week either is enough, as in a crontab; six that name
     * both are refused.
     *
     * @param expression five fields (minute, hour, day of month, month, day of week), six with seconds before them, or a name
     *     such as {@code @daily}; at most 200 characters, kept with one blank between two fields. One that cannot be read, or
     *     never comes, is refused
     * @param zone the time zone, written to the row by its id
     */
    record Cron(String expression, ZoneId zone) implements Timing {
        private static final int LONGEST = 200;

        public Cron {
            if (zone == null) {
                throw new InvalidUseException("A cron expression needs a time zone, got null");
            }
            expression = CronSyntax.tidy(ScheduleTexts.checked("The cron expression", LONGEST, expression));
            CronSyntax.check(expression);
        }
    }

    /**
     * At a fixed rate, whatever becomes of the jobs; first one interval after the declaration.
     *
     * @param every 1 s to 3,653 days, in whole microseconds
     */
    record FixedRate(Duration every) implements Timing {
        public FixedRate {
            check("every", every);
        }
    }

    /**
     * So long after the job before, and those that people have run since, have finished: completed, dead or cancelled; first so
     * long after the declaration. Where a job's row is deleted at once, from when a worker notices. At most one of its jobs is
     * unfinished, beside those that people run.
     *
     * @param delay 1 s to 3,653 days, in whole microseconds
     */
    record FixedDelay(Duration delay) implements Timing {
        public FixedDelay {
            check("delay", delay);
        }
    }

    private static void check(String what, @Nullable Duration interval) {
        Duration most = Duration.ofDays(3_653);
        if (interval == null || interval.compareTo(Duration.ofSeconds(1)) < 0 || interval.compareTo(most) > 0) {
            throw new InvalidUseException(what + " of a schedule must be between " + Duration.ofSeconds(1) + " and "
                    + most + ", got " + interval);
        }
        if (!interval.equals(interval.truncatedTo(ChronoUnit.MICROS))) {
            throw new InvalidUseException(what + " of a schedule must be whole microseconds, got " + interval);
        }
    }
}
