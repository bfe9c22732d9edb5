package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What holds back the jobs of a queue over all workers together. Immutable; safe for use by many threads. A part that is
 * null does not limit.
 *
 * @param running how many of its jobs run at once; 1 to 1,000,000
 * @param rate how many of its jobs are claimed in a window of time
 * @param runningPerKey how many of the jobs with one limit key run at once; 1 to 1,000,000
 * @param ratePerKey how many of the jobs with one limit key are claimed in a window of time
 */
public record QueueLimits(
        @Nullable Integer running,
        @Nullable Rate rate,
        @Nullable Integer runningPerKey,
        @Nullable Rate ratePerKey) {
    private static final QueueLimits NONE = new QueueLimits(null, null, null, null);
    private static final int MOST = 1_000_000;

    /**
     * Checks the numbers.
     *
     * @throws InvalidUseException if one is out of its range
     */
    public QueueLimits {
        check("running", running);
        check("runningPerKey", runningPerKey);
    }

    /**
     * A number of jobs in each window of time. Windows follow one another by the database's clock; they begin at multiples
     * of their length since 1970-01-01 UTC, so those of an hour begin at full hours.
     *
     * @param jobs how many jobs; 1 to 1,000,000
     * @param per the length of a window; 1 second to 365 days, in whole milliseconds
     */
    public record Rate(int jobs, Duration per) {
        /**
         * Checks the numbers.
         *
         * @throws InvalidUseException if one is out of its range
         */
        public Rate {
            check("The jobs of a rate", jobs);
            if (per == null
                    || per.compareTo(Duration.ofSeconds(1)) < 0
                    || per.compareTo(Duration.ofDays(365)) > 0
                    || per.toNanosPart() % 1_000_000 != 0) {
                throw new InvalidUseException(
                        "The window of a rate must be between 1 second and 365 days, in whole milliseconds, got "
                                + per);
            }
        }
    }

    private static void check(String what, @Nullable Integer number) {
        if (number != null && (number < 1 || number > MOST)) {
            throw new InvalidUseException(what + " must be between 1 and " + MOST + ", got " + number
                    + "; to let no job run, pause the queue");
        }
    }

    /** No limits. */
    public static QueueLimits none() {
        return NONE;
    }

    /**
     * The same with another number of jobs that run at once.
     *
     * @param jobs 1 to 1,000,000
     * @return the limits
     * @throws InvalidUseException if it is out of its range
     */
    public QueueLimits running(int jobs) {
        return new QueueLimits(jobs, rate, runningPerKey, ratePerKey);
    }

    /**
     * The same with another rate.
     *
     * @param jobs 1 to 1,000,000
     * @param per the length of a window; 1 second to 365 days
     * @return the limits
     * @throws InvalidUseException if one is out of its range
     */
    public QueueLimits rate(int jobs, Duration per) {
        return new QueueLimits(running, new Rate(jobs, per), runningPerKey, ratePerKey);
    }

    /**
     * The same with another number of jobs with one limit key that run at once.
     *
     * @param jobs 1 to 1,000,000
     * @return the limits
     * @throws InvalidUseException if it is out of its range
     */
    public QueueLimits runningPerKey(int jobs) {
        return new QueueLimits(running, rate, jobs, ratePerKey);
    }

    /**
     * The same with another rate of each limit key.
     *
     * @param jobs 1 to 1,000,000
     * @param per the length of a window; 1 second to 365 days
     * @return the limits
     * @throws InvalidUseException if one is out of its range
     */
    public QueueLimits ratePerKey(int jobs, Duration per) {
        return new QueueLimits(running, rate, runningPerKey, new Rate(jobs, per));
    }
}
