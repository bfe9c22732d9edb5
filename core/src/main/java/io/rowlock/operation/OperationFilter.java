package io.rowlock.operation;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which operations. Immutable: each method returns a narrower copy. Of job, saga, schedule, queue, alert, lease and subject the one
 * said last counts.
 *
 * @param who who did it, or null for anybody
 * @param what what was done, as {@code revive}, or null for anything
 * @param since done at this time or later, or null
 * @param before done before this time, or null
 * @param on what it was done to, or null for anything
 */
public record OperationFilter(
        @Nullable String who,
        @Nullable String what,
        @Nullable Instant since,
        @Nullable Instant before,
        @Nullable On on) {
    private static final OperationFilter ALL = new OperationFilter(null, null, null, null, null);

    /**
     * What an operation was done to.
     *
     * @param sort of which sort
     * @param name its name, or its id as a text
     */
    public record On(Sort sort, String name) {}

    /** What can be operated on. */
    public enum Sort {
        /** A job, by its id. */
        JOB,
        /** A saga, by its id. */
        SAGA,
        /** A schedule, by its name. */
        SCHEDULE,
        /** A queue, by its name. */
        QUEUE,
        /** An alert, by its id. */
        ALERT,
        /** A lease, by its name. */
        LEASE,
        /** The jobs and sagas about a subject whose rows are still there, the newest 1,000 of each. */
        SUBJECT
    }

    /**
     * All of them.
     *
     * @return a filter that lets all pass
     */
    public static OperationFilter all() {
        return ALL;
    }

    /**
     * What one person or tool did.
     *
     * @param only the name, as it was given
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter who(String only) {
        return new OperationFilter(text("who", only), what, since, before, on);
    }

    /**
     * What was done in one way.
     *
     * @param only the operation, as {@code revive}
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter what(String only) {
        return new OperationFilter(who, text("what", only), since, before, on);
    }

    /**
     * What was done at a time or later.
     *
     * @param from the time, by the database's clock
     * @return the narrower copy
     * @throws InvalidUseException if null
     */
    public OperationFilter since(Instant from) {
        return new OperationFilter(who, what, required("since", from), before, on);
    }

    /**
     * What was done before a time.
     *
     * @param to the time, by the database's clock
     * @return the narrower copy
     * @throws InvalidUseException if null
     */
    public OperationFilter before(Instant to) {
        return new OperationFilter(who, what, since, required("before", to), on);
    }

    /**
     * What was done to a job.
     *
     * @param id the job
     * @return the narrower copy
     */
    public OperationFilter job(long id) {
        return on(Sort.JOB, Long.toString(id));
    }

    /**
     * What was done to a saga.
     *
     * @param id the saga
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter saga(String id) {
        return on(Sort.SAGA, text("saga", id));
    }

    /**
     * What was done to a schedule.
     *
     * @param name the schedule
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter schedule(String name) {
        return on(Sort.SCHEDULE, text("schedule", name));
    }

    /**
     * What was done to a queue.
     *
     * @param name the queue
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter queue(String name) {
        return on(Sort.QUEUE, text("queue", name));
    }

    /**
     * What was done to an alert.
     *
     * @param id the alert
     * @return the narrower copy
     */
    public OperationFilter alert(long id) {
        return on(Sort.ALERT, Long.toString(id));
    }

    /**
     * What was done to a lease.
     *
     * @param name the lease
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter lease(String name) {
        return on(Sort.LEASE, text("lease", name));
    }

    /**
     * What was done to the jobs and sagas about a subject: those whose rows are still there, the newest 1,000 of each, and
     * of each of them the last 1,000 operations.
     *
     * @param about the subject, such as {@code Order:42}
     * @return the narrower copy
     * @throws InvalidUseException if null, blank, or it has control characters
     */
    public OperationFilter subject(String about) {
        return on(Sort.SUBJECT, text("subject", about));
    }

    private OperationFilter on(Sort sort, String name) {
        return new OperationFilter(who, what, since, before, new On(sort, name));
    }

    private static String text(String part, @Nullable String value) {
        String given = required(part, value);
        if (given.isBlank() || given.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidUseException(part + " must not be blank and have no control characters");
        }
        return given;
    }

    private static <T> T required(String part, @Nullable T value) {
        if (value == null) {
            throw new InvalidUseException(part + " must not be null");
        }
        return value;
    }
}
