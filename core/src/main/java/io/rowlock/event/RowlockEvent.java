package io.rowlock.event;

import java.time.Duration;
import java.util.Set;

/** What can happen; one record each, named in the past tense. All are here, but those of sagas. */
public sealed interface RowlockEvent {

    /**
     * A handler returned and its job was recorded as completed.
     *
     * @param id the job
     * @param kind its kind
     * @param attempt the attempt that succeeded
     */
    record JobCompleted(long id, String kind, int attempt) implements RowlockEvent {}

    /**
     * An attempt failed and the job was put back for another.
     *
     * @param id the job
     * @param kind its kind
     * @param attempt the attempt that failed
     * @param delay how long the next attempt waits
     * @param reason why it failed
     */
    record JobRetried(long id, String kind, int attempt, Duration delay, String reason) implements RowlockEvent {}

    /**
     * A job became a dead letter.
     *
     * @param id the job
     * @param kind its kind
     * @param attempts the attempts it used
     * @param reason why
     */
    record JobDied(long id, String kind, int attempts, String reason) implements RowlockEvent {}

    /**
     * A handler put its job back for later without using the attempt.
     *
     * @param id the job
     * @param kind its kind
     * @param delay for how long
     */
    record JobSnoozed(long id, String kind, Duration delay) implements RowlockEvent {}

    /**
     * A job was put back, for a retry say, while another waited under its dedup key; one of the two was cancelled, the other
     * does its work.
     *
     * @param id the cancelled job: the one put back, unless an ordering key gives that one its place before the other
     * @param kind its kind
     * @param into the other
     */
    record JobMerged(long id, String kind, long into) implements RowlockEvent {}

    /**
     * A stopping worker gave a job back without using the attempt.
     *
     * @param id the job
     * @param kind its kind
     */
    record JobHandedBack(long id, String kind) implements RowlockEvent {}

    /**
     * An attempt took longer than its handler's timeout. Its thread may still run.
     *
     * @param id the job
     * @param kind its kind
     * @param attempt the attempt
     * @param timeout the limit
     */
    record JobTimedOut(long id, String kind, int attempt, Duration timeout) implements RowlockEvent {}

    /**
     * A worker tried to write under a lease it no longer holds; nothing was written.
     *
     * @param id the job
     * @param kind its kind
     * @param attempt the attempt whose outcome counts for nothing
     */
    record LeaseLost(long id, String kind, int attempt) implements RowlockEvent {}

    /**
     * A job whose worker vanished was taken from it.
     *
     * @param id the job
     * @param kind its kind
     * @param attempts the attempts it used
     * @param worker the incarnation that held it
     */
    record JobRescued(long id, String kind, int attempts, String worker) implements RowlockEvent {}

    /**
     * A loop of the engine failed and tries again.
     *
     * @param worker the worker
     * @param loop which loop
     * @param failures how often in a row
     * @param cause why
     */
    record LoopFailed(String worker, String loop, int failures, Throwable cause) implements RowlockEvent {}

    /**
     * Other processes could not be told of a commit in this one; their workers find its jobs at their next poll.
     *
     * @param cause why
     */
    record NotificationFailed(Throwable cause) implements RowlockEvent {}

    /**
     * A session no longer leaves out jobs of entity changes; told where it left any out.
     *
     * @param reason why it did, as the application said
     * @param kinds the kinds, immutable
     * @param jobs how many changes had no job for it
     */
    record JobsSuppressed(String reason, Set<String> kinds, long jobs) implements RowlockEvent {}

    /**
     * A bulk statement changed rows of an entity, which made no jobs. Told of each, also where the log tells of the first
     * only.
     *
     * @param entity the entity's name
     * @param change {@code PERSIST}, {@code UPDATE} or {@code REMOVE}
     * @param kinds the kinds of the jobs that such a change of one entity makes, immutable
     */
    record BulkStatementMet(String entity, String change, Set<String> kinds) implements RowlockEvent {}

    /**
     * A worker began to claim.
     *
     * @param worker its incarnation
     */
    record WorkerStarted(String worker) implements RowlockEvent {}

    /**
     * A worker has stopped and handed back what it had.
     *
     * @param worker its incarnation
     */
    record WorkerStopped(String worker) implements RowlockEvent {}

    /** Something happened to a saga; the module of sagas has the records. */
    non-sealed interface SagaEvent extends RowlockEvent {}

    /**
     * This process made an alert's row, which is committed; what is counted up in one that is there is not told.
     *
     * @param id the alert
     * @param cause the text of an {@link io.rowlock.alert.AlertCause}
     * @param kind what it happened to
     * @param count how often
     * @param reason why, last
     */
    record AlertRaised(long id, String cause, String kind, long count, String reason) implements RowlockEvent {}

    /**
     * A schedule is due and could not be fired, and an alert says so.
     *
     * @param schedule its name
     * @param reason why
     */
    record ScheduleNotFired(String schedule, String reason) implements RowlockEvent {}
}
