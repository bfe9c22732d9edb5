package io.rowlock.spi;

import io.rowlock.job.By;
import org.jspecify.annotations.Nullable;

/**
 * Who may read what jobs, sagas, alerts and stored answers say, and change jobs, sagas, queues, schedules, alerts, leases and stored
 * answers: asked by {@link io.rowlock.job.Jobs}, {@link io.rowlock.job.Queues}, {@link io.rowlock.schedule.Schedules}, {@link
 * io.rowlock.alert.Alerts}, {@link io.rowlock.lease.Leases}, {@link io.rowlock.idempotency.Answers} and the operations on sagas. Set by {@code Rowlock.builder().access(...)}; without one everything is allowed. It guards the
 * door for people and their tools, not the database: whoever may read the tables needs no door. What an application does by
 * its code (enqueues, starts, signals, declared schedules, leases that it takes, requests) is not asked for. Called by many threads at once.
 */
@FunctionalInterface
public interface AccessPolicy {
    /** Stands for the caller of a read that does not say who reads. */
    By NOBODY = new By("nobody", "the call does not say who reads");

    /** Stands for an error text in what a search shows, where the policy refuses to let it be read. */
    String HIDDEN = "hidden";

    /**
     * Whether it may be done. For jobs called inside the transaction that would do it, before a change; for others before any
     * statement; for what a search shows after it has found them, for each that has an error text. So it must be quick, and must not use the database over that transaction. What it throws goes to the caller,
     * and nothing is done.
     *
     * @param access what is asked for
     * @return false to refuse it
     */
    boolean allows(Access access);

    /** What something is done to. */
    enum Target {
        /** A job. */
        JOB,
        /** A saga. */
        SAGA,
        /** A queue. */
        QUEUE,
        /** A schedule. */
        SCHEDULE,
        /** An alert. */
        ALERT,
        /** What people did. */
        OPERATION,
        /** A named lease, of a leader or a part too. */
        LEASE,
        /** What a request under an idempotency key was answered. */
        ANSWER
    }

    /** What can be done. */
    enum Action {
        /**
         * Reading payload, headers, error texts and failures of a job; states, results, signals and reasons of a saga; texts of
         * alerts; stored answers; what people did, and why.
         */
        READ,
        /** Ending a job before it is done; asking a saga to undo what it has done. */
        CANCEL,
        /** Making a job ready again. */
        REVIVE,
        /** Letting the jobs behind a dead one go on; going on without a step of a saga. */
        SKIP,
        /** Deleting a job after it is finished. */
        DELETE,
        /** Giving a job another time. */
        RESCHEDULE,
        /** Putting a job into another queue; asked for the queue it leaves, and for the one it comes to. */
        MOVE,
        /** Taking out what a finished job or saga, or an answer says; of sagas asked once for all of a subject. */
        REDACT,
        /** Trying again what failed in a saga. */
        RETRY,
        /** Saying that a step of a saga, or all of it, was done by hand. */
        RESOLVE,
        /** Letting a saga wait no longer for its next attempt. */
        HURRY,
        /** Starting a saga in the middle, from what another has done. */
        FORK,
        /** Letting a queue or a schedule rest. */
        PAUSE,
        /** Ending such a rest. */
        RESUME,
        /** Setting the limits of a queue. */
        LIMIT,
        /** Setting what a dead job does to those behind it. */
        DEAD_HEAD,
        /** Making a job of a schedule now. */
        RUN,
        /** Removing a schedule. */
        REMOVE,
        /** Taking alerts over. */
        ACKNOWLEDGE,
        /** Taking a lease away from its holder. */
        REVOKE
    }

    /**
     * Who would do what to what.
     *
     * @param action what
     * @param target to what sort of thing
     * @param by who, and why: as the caller says, not proved; {@link #NOBODY} where it does not say
     * @param name the id of the job, saga or alert, the name of the queue, schedule or lease, or the idempotency key; empty for
     *     many at once (alerts or operations by a filter, sagas of a subject, answers of a principal)
     * @param kind the kind of the job, or the one the filter of alerts names; else empty
     * @param queue the queue of the job, or the queue itself; else empty
     * @param subject what the job, or the sagas to be redacted, are about; of answers their principal; else null
     */
    record Access(
            Action action,
            Target target,
            By by,
            String name,
            String kind,
            String queue,
            @Nullable String subject) {
        /**
         * Of something that has a name alone.
         *
         * @param action what
         * @param target to what sort of thing
         * @param by who, and why
         * @param name its id or name
         * @return the access
         */
        public static Access of(Action action, Target target, By by, String name) {
            return new Access(action, target, by, name, "", target == Target.QUEUE ? name : "", null);
        }
    }
}
