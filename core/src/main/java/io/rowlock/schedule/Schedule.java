package io.rowlock.schedule;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.Priority;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule is to be: when, which job, under which rules. Declared by {@code WorkerConfig.schedule} or {@link
 * Schedules#declare}; from then on its row counts, and any worker of the database makes its jobs. Immutable and safe for
 * use by many threads: every method gives another one.
 *
 * @param <T> the type of the payload
 */
public final class Schedule<T> {
    private static final int LONGEST_NAME = 190;

    private final String name;
    private final Timing timing;
    private final JobKind<T> kind;
    private final T payload;
    private final Rules rules;

    private Schedule(String name, Timing timing, JobKind<T> kind, T payload, Rules rules) {
        this.name = name;
        this.timing = timing;
        this.kind = kind;
        this.payload = payload;
        this.rules = rules;
    }

    /**
     * How jobs are made, apart from when and which.
     *
     * @param revision the higher one of two declarations wins
     * @param misfire what becomes of missed instants
     * @param overlap what becomes of an instant at which the job before has not finished
     * @param queue the queue of the jobs
     * @param priority the priority of the jobs
     * @param subject what the jobs are about, or null: {@code schedule:} and the name
     */
    public record Rules(
            int revision,
            Misfire misfire,
            Overlap overlap,
            String queue,
            Priority priority,
            @Nullable String subject) {
        private static final int MOST = 1_000_000;

        public Rules {
            if (revision < 1 || revision > MOST) {
                throw new InvalidUseException(
                        "revision of a schedule must be between 1 and " + MOST + ", got " + revision);
            }
            if (misfire == null || overlap == null) {
                throw new InvalidUseException("misfire and overlap of a schedule must not be null");
            }
            if (misfire == Misfire.ALL && overlap == Overlap.SKIP) {
                throw new InvalidUseException("A schedule cannot make up for all missed instants and skip those that"
                        + " overlap: of several missed ones all but the first would be skipped; use Overlap.QUEUE, or"
                        + " Misfire.ONCE");
            }
            JobOptions checked = new JobOptions().queue(queue).priority(priority);
            if (subject != null) {
                checked.subject(subject);
            }
        }
    }

    /** A schedule that lacks its job. Immutable. */
    public static final class Draft {
        private final String name;
        private final Timing timing;

        private Draft(String name, Timing timing) {
            this.name = ScheduleTexts.checked("The name of a schedule", LONGEST_NAME, name);
            this.timing = timing;
        }

        /**
         * Says which jobs it makes.
         *
         * @param payload the payload of each of them; its class has {@link io.rowlock.job.Kind}
         * @param <T> the type of the payload
         * @return the schedule, with revision 1 and defaults for the rest
         * @throws InvalidUseException if the payload is null or has no kind
         */
        public <T> Schedule<T> job(T payload) {
            if (payload == null) {
                throw new InvalidUseException("The payload of a schedule must not be null (schedule=" + name + ")");
            }
            @SuppressWarnings("unchecked")
            Class<T> type = (Class<T>) payload.getClass();
            return job(JobKind.of(type), payload);
        }

        /**
         * Says which jobs it makes, of a kind given by hand.
         *
         * @param kind the kind
         * @param payload the payload of each of them
         * @param <T> the type of the payload
         * @return the schedule, with revision 1 and defaults for the rest
         * @throws InvalidUseException if one is null
         */
        public <T> Schedule<T> job(JobKind<T> kind, T payload) {
            if (kind == null || payload == null) {
                throw new InvalidUseException(
                        "A schedule needs a kind and a payload, got null (schedule=" + name + ")");
            }
            Rules rules = new Rules(1, Misfire.ONCE, Overlap.ALLOW, "default", Priority.NORMAL, null);
            return new Schedule<>(name, timing, kind, payload, rules);
        }
    }

    /**
     * A schedule by a cron expression.
     *
     * @param name unique in the database: 1 to 190 characters, not blank, no control characters
     * @param expression see {@link Timing.Cron}
     * @param zone on whose clocks
     * @return to be given a job
     * @throws InvalidUseException if one is null or not allowed, or the expression cannot be read or never comes
     */
    public static Draft cron(String name, String expression, ZoneId zone) {
        return new Draft(name, new Timing.Cron(expression, zone));
    }

    /**
     * A schedule at a fixed rate.
     *
     * @param name unique in the database: 1 to 190 characters, not blank, no control characters
     * @param every 1 s to 3,653 days
     * @return to be given a job
     * @throws InvalidUseException if one is null or not allowed
     */
    public static Draft fixedRate(String name, Duration every) {
        return new Draft(name, new Timing.FixedRate(every));
    }

    /**
     * A schedule whose jobs come so long after the one before has finished.
     *
     * @param name unique in the database: 1 to 190 characters, not blank, no control characters
     * @param delay 1 s to 3,653 days
     * @return to be given a job
     * @throws InvalidUseException if one is null or not allowed
     */
    public static Draft fixedDelay(String name, Duration delay) {
        return new Draft(name, new Timing.FixedDelay(delay));
    }

    private Schedule<T> with(Rules changed) {
        return new Schedule<>(name, timing, kind, payload, changed);
    }

    /**
     * Numbers this declaration: raise it with every change, so that in a rolling deploy the newer version wins whoever
     * starts last.
     *
     * @param revision 1 to 1,000,000; 1 by default
     * @return a schedule with it
     * @throws InvalidUseException if out of range
     */
    public Schedule<T> revision(int revision) {
        return with(new Rules(revision, rules.misfire, rules.overlap, rules.queue, rules.priority, rules.subject));
    }

    /**
     * Sets what becomes of missed instants.
     *
     * @param misfire {@link Misfire#ONCE} by default
     * @return a schedule with it
     * @throws InvalidUseException if null, or ALL with {@link Overlap#SKIP}
     */
    public Schedule<T> misfire(Misfire misfire) {
        return with(new Rules(rules.revision, misfire, rules.overlap, rules.queue, rules.priority, rules.subject));
    }

    /**
     * Sets what becomes of an instant at which the job before has not finished. Counts for nothing with a fixed delay.
     *
     * @param overlap {@link Overlap#ALLOW} by default
     * @return a schedule with it
     * @throws InvalidUseException if null, or SKIP with {@link Misfire#ALL}
     */
    public Schedule<T> overlap(Overlap overlap) {
        return with(new Rules(rules.revision, rules.misfire, overlap, rules.queue, rules.priority, rules.subject));
    }

    /**
     * Sets the queue of the jobs.
     *
     * @param queue 1 to 200 characters; {@code default} by default
     * @return a schedule with it
     * @throws InvalidUseException if not allowed
     */
    public Schedule<T> queue(String queue) {
        return with(new Rules(rules.revision, rules.misfire, rules.overlap, queue, rules.priority, rules.subject));
    }

    /**
     * Sets the priority of the jobs.
     *
     * @param priority {@link Priority#NORMAL} by default
     * @return a schedule with it
     * @throws InvalidUseException if null
     */
    public Schedule<T> priority(Priority priority) {
        return with(new Rules(rules.revision, rules.misfire, rules.overlap, rules.queue, priority, rules.subject));
    }

    /**
     * Sets what the jobs are about.
     *
     * @param subject 1 to 200 characters; {@code schedule:} and the name by default
     * @return a schedule with it
     * @throws InvalidUseException if null or not allowed
     */
    public Schedule<T> subject(String subject) {
        new JobOptions().subject(subject);
        return with(new Rules(rules.revision, rules.misfire, rules.overlap, rules.queue, rules.priority, subject));
    }

    /**
     * Its name.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * When it makes its jobs.
     *
     * @return the timing
     */
    public Timing timing() {
        return timing;
    }

    /**
     * The kind of its jobs.
     *
     * @return the kind
     */
    public JobKind<T> kind() {
        return kind;
    }

    /**
     * The payload of its jobs.
     *
     * @return the payload
     */
    public T payload() {
        return payload;
    }

    /**
     * How its jobs are made.
     *
     * @return the rules, with defaults for what was not set
     */
    public Rules rules() {
        return rules;
    }
}
