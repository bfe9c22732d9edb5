package io.rowlock.worker;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How long rows are kept that nobody needs for work any more: each kind of row for a time of its own. Immutable: each method
 * gives a new one. Past their time rows are deleted by a worker, in batches of at most 1,000, by one process at a time; what is
 * not finished, what blocks an ordering key, and what somebody has just revived or locked is left alone. Jobs are deleted by
 * the workers that handle their kind, with the failures of their attempts. Alerts, failures and operations are deleted by any
 * worker, for all: say the same in each, as the shortest time wins.
 */
public final class Retention {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration LONGEST = Duration.ofDays(36_525);
    private static final Retention STANDARD =
            new Retention(new OfJobs(DAY, DAY, null), Duration.ofDays(90), null, null, Duration.ofDays(90));

    private final OfJobs jobs;
    private final Duration alerts;
    private final @Nullable Duration failures;
    private final @Nullable Duration operations;
    private final Duration leases;

    private record OfJobs(
            Duration completed,
            Duration cancelled,
            @Nullable Duration dead) {}

    private Retention(
            OfJobs jobs, Duration alerts, @Nullable Duration failures, @Nullable Duration operations, Duration leases) {
        this.jobs = jobs;
        this.alerts = alerts;
        this.failures = failures;
        this.operations = operations;
        this.leases = leases;
    }

    /**
     * Completed and cancelled jobs for 24 h, acknowledged alerts and who held which lease for 90 days; dead letters, alerts that nobody has acknowledged,
     * failures of jobs that are there, and operations for ever.
     *
     * @return the defaults
     */
    public static Retention standard() {
        return STANDARD;
    }

    /**
     * Keeps completed jobs for a time.
     *
     * @param time 0 to 100 years, from the end of the job; with 0 they are deleted when they complete, but for those of {@link
     *     io.rowlock.job.DedupMode#ONCE}, which are kept for 24 h; 24 h by default
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention completed(Duration time) {
        return with(new OfJobs(between("completed", time, Duration.ZERO), jobs.cancelled, jobs.dead));
    }

    /**
     * Keeps cancelled jobs, duplicates that were merged among them, for a time.
     *
     * @param time 1 ms to 100 years, from the cancel; 24 h by default
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention cancelled(Duration time) {
        return with(new OfJobs(jobs.completed, between("cancelled", time, Duration.ofMillis(1)), jobs.dead));
    }

    /**
     * Deletes dead letters after a time, whether anybody has looked at them or not. One that blocks its ordering key stays until
     * it is revived, skipped or deleted by a person.
     *
     * @param time 1 h to 100 years, from the death; by default they are kept until a person decides
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention dead(Duration time) {
        return with(new OfJobs(jobs.completed, jobs.cancelled, between("dead", time, Duration.ofHours(1))));
    }

    /**
     * Keeps acknowledged alerts for a time; others are never deleted.
     *
     * @param time 1 h to 100 years, from the acknowledgement; 90 days by default
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention alerts(Duration time) {
        return new Retention(jobs, between("alerts", time, Duration.ofHours(1)), failures, operations, leases);
    }

    /**
     * Deletes failures of attempts after a time, also of jobs that are there: such as retry for weeks. Without it they go with
     * their jobs.
     *
     * @param time 1 h to 100 years, from the failure; by default for as long as the job
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention failures(Duration time) {
        return new Retention(jobs, alerts, between("failures", time, Duration.ofHours(1)), operations, leases);
    }

    /**
     * Deletes what people did after a time, but for operations on sagas that are still there.
     *
     * @param time 1 day to 100 years, from the operation; by default they are kept for ever
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention operations(Duration time) {
        return new Retention(jobs, alerts, failures, between("operations", time, DAY), leases);
    }

    /**
     * Keeps who held which lease for a time after its end, and the rows of leases that nobody has held since. A name that is taken
     * again later has greater tokens all the same.
     *
     * @param time 1 day to 100 years; 90 days by default
     * @return the retention with this time
     * @throws InvalidUseException if out of range
     */
    public Retention leases(Duration time) {
        return new Retention(jobs, alerts, failures, operations, between("leases", time, DAY));
    }

    private Retention with(OfJobs next) {
        return new Retention(next, alerts, failures, operations, leases);
    }

    /**
     * How long completed jobs are kept.
     *
     * @return zero: they are deleted at once
     */
    public Duration completed() {
        return jobs.completed;
    }

    /**
     * How long cancelled jobs are kept.
     *
     * @return the time
     */
    public Duration cancelled() {
        return jobs.cancelled;
    }

    /**
     * How long dead letters are kept.
     *
     * @return empty: for ever
     */
    public Optional<Duration> dead() {
        return Optional.ofNullable(jobs.dead);
    }

    /**
     * How long acknowledged alerts are kept.
     *
     * @return the time
     */
    public Duration alerts() {
        return alerts;
    }

    /**
     * How long failures are kept beside their jobs.
     *
     * @return empty: as long as the jobs
     */
    public Optional<Duration> failures() {
        return Optional.ofNullable(failures);
    }

    /**
     * How long operations are kept.
     *
     * @return empty: for ever
     */
    public Optional<Duration> operations() {
        return Optional.ofNullable(operations);
    }

    /**
     * How long it is kept who held which lease.
     *
     * @return the time
     */
    public Duration leases() {
        return leases;
    }

    private static Duration between(String what, @Nullable Duration time, Duration least) {
        if (time == null || time.compareTo(least) < 0 || time.compareTo(LONGEST) > 0) {
            throw new InvalidUseException(
                    "The retention of " + what + " must be between " + least + " and " + LONGEST + ", got " + time);
        }
        return time;
    }
}
