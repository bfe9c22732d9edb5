package io.rowlock.spi;

import io.rowlock.job.By;
import org.jspecify.annotations.Nullable;

/**
 * Who may read what jobs carry, and change them: asked by {@link io.rowlock.job.Jobs} for each job. Set by {@code
 * Rowlock.builder().access(...)}; without one everything is allowed. It guards the door for people and their tools, not the
 * database: whoever may read the tables needs no door. Called by many threads at once.
 */
@FunctionalInterface
public interface AccessPolicy {
    /**
     * Whether it may be done. Called inside the transaction that would do it, before a change, so it must be quick, and must
     * not use the database over that transaction. What it throws goes to the caller, and nothing is done.
     *
     * @param access what is asked for
     * @return false to refuse it
     */
    boolean allows(Access access);

    /** What can be done to a job. */
    enum Action {
        /** Reading payload and headers. */
        READ,
        /** Ending it before it is done. */
        CANCEL,
        /** Making it ready again. */
        REVIVE,
        /** Letting the jobs behind a dead one go on. */
        SKIP,
        /** Deleting it after it is finished. */
        DELETE,
        /** Giving it another time. */
        RESCHEDULE,
        /** Putting it into another queue; asked for the queue it leaves, and for the one it comes to. */
        MOVE,
        /** Taking out payload, headers and errors after it is finished. */
        REDACT
    }

    /**
     * Who would do what to which job.
     *
     * @param action what
     * @param by who, and why: as the caller says, not proved
     * @param job the job's id
     * @param kind its kind
     * @param queue its queue
     * @param subject what it is about, or null
     */
    record Access(
            Action action,
            By by,
            long job,
            String kind,
            String queue,
            @Nullable String subject) {}
}
