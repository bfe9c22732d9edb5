package io.rowlock.event;

import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.job.Enqueued;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What can happen; one record each, named in the past tense. All are here, but those of sagas. */
public sealed interface RowlockEvent {

    /** Something happened to one job. */
    sealed interface JobEvent extends RowlockEvent {
        /**
         * The job.
         *
         * @return its id
         */
        long id();

        /**
         * Where it is done.
         *
         * @return its queue
         */
        String queue();

        /**
         * What it is.
         *
         * @return the name it was written under, which may be an alias of its handler's kind
         */
        String kind();
    }

    /**
     * Jobs were written, by an enqueue or for a persistence unit. Told on the thread that writes them, within its transaction:
     * that may still roll back, and then there are none.
     *
     * @param jobs at least one, in their order, immutable; duplicates are marked
     */
    record JobsEnqueued(List<Enqueued> jobs) implements RowlockEvent {}

    /**
     * A schedule made jobs, and that has committed.
     *
     * @param schedule its name
     * @param jobs at least one, immutable
     */
    record ScheduleFired(String schedule, List<Enqueued> jobs) implements RowlockEvent {}

    /**
     * An attempt begins: told on the handler's thread, before the payload is read.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempt which attempt
     * @param waited since the job was due, by the database's clock until it was claimed
     */
    record AttemptStarted(long id, String queue, String kind, int attempt, Duration waited) implements JobEvent {}

    /**
     * An attempt has ended: told on the handler's thread, before anything of it is recorded. What becomes of the job is told by
     * an event of its own, or by none if it was taken from the worker meanwhile.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempt which attempt
     * @param took how long reading the payload, the handler and its transaction took
     * @param thrown what the handler threw, a {@link io.rowlock.job.Snooze} too, or null: it returned
     */
    record AttemptEnded(
            long id,
            String queue,
            String kind,
            int attempt,
            Duration took,
            @Nullable Throwable thrown) implements JobEvent {}

    /**
     * A handler returned and its job was recorded as completed.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempt the attempt that succeeded
     */
    record JobCompleted(long id, String queue, String kind, int attempt) implements JobEvent {}

    /**
     * An attempt failed and the job was put back for another.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempt the attempt that failed
     * @param delay how long the next attempt waits
     * @param reason why it failed
     */
    record JobRetried(long id, String queue, String kind, int attempt, Duration delay, String reason)
            implements JobEvent {}

    /**
     * A job became a dead letter.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempts the attempts it used
     * @param reason why
     */
    record JobDied(long id, String queue, String kind, int attempts, String reason) implements JobEvent {}

    /**
     * A handler put its job back for later without using the attempt.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param delay for how long
     */
    record JobSnoozed(long id, String queue, String kind, Duration delay) implements JobEvent {}

    /**
     * A job was put back, for a retry say, while another waited under its dedup key; one of the two was cancelled, the other
     * does its work.
     *
     * @param id the cancelled job: the one put back, unless an ordering key gives that one its place before the other
     * @param queue its queue
     * @param kind its kind
     * @param into the other
     */
    record JobMerged(long id, String queue, String kind, long into) implements JobEvent {}

    /**
     * A stopping worker gave a job back without using the attempt.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     */
    record JobHandedBack(long id, String queue, String kind) implements JobEvent {}

    /**
     * An attempt took longer than its handler's timeout. Its thread may still run.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempt the attempt
     * @param timeout the limit
     */
    record JobTimedOut(long id, String queue, String kind, int attempt, Duration timeout) implements JobEvent {}

    /**
     * A worker tried to write under a lease it no longer holds; nothing was written.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempt the attempt whose outcome counts for nothing
     */
    record LeaseLost(long id, String queue, String kind, int attempt) implements JobEvent {}

    /**
     * A job whose worker vanished was taken from it.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param attempts the attempts it used
     * @param worker the incarnation that held it
     */
    record JobRescued(long id, String queue, String kind, int attempts, String worker) implements JobEvent {}

    /**
     * A job was cancelled: by a person, or by a worker for whom its handler had to end first. Told where that was committed; of
     * a cancel over a caller's connection within its transaction, which may still roll back. A job that was merged into another is
     * told as {@link JobMerged} alone.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param reason by whom, and why; kept as the job's last error
     */
    record JobCancelled(long id, String queue, String kind, String reason) implements JobEvent {}

    /**
     * A person made a dead or cancelled job ready again. Told as {@link JobCancelled} is; where another job waited under its
     * dedup key, that one may do its work.
     *
     * @param id the job
     * @param queue its queue
     * @param kind its kind
     * @param reason by whom, and why
     */
    record JobRevived(long id, String queue, String kind, String reason) implements JobEvent {}

    /**
     * A worker compared the clock of its machine with the database's, which it does about once a minute.
     *
     * @param worker its incarnation
     * @param ahead by how much this one is ahead of the database's; negative: behind
     * @param within what that may be wrong by: half of the round trip
     */
    record ClockCompared(String worker, Duration ahead, Duration within) implements RowlockEvent {}

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

    /**
     * A repetition of a request got its stored answer. Told on the caller's thread.
     *
     * @param method what was asked for
     * @param path where
     */
    record RequestReplayed(String method, String path) implements RowlockEvent {}

    /**
     * A request under an idempotency key was not done. Told on the caller's thread.
     *
     * @param method what was asked for
     * @param path where
     * @param reason why
     */
    record RequestRefused(String method, String path, IdempotencyRefusedException.Reason reason)
            implements RowlockEvent {}

    /**
     * This process has taken a named lease: to lead, to work on a part, or for the application.
     *
     * @param name the lease
     * @param token its new token
     * @param holder this process
     */
    record NamedLeaseTaken(String name, long token, String holder) implements RowlockEvent {}

    /**
     * This process holds a named lease no more, and did not give it back. Told before {@code onLost}.
     *
     * @param name the lease
     * @param token the token it was held under
     * @param reason why
     */
    record NamedLeaseLost(String name, long token, String reason) implements RowlockEvent {}

    /**
     * This process has given a named lease back.
     *
     * @param name the lease
     * @param token the token it was held under
     */
    record NamedLeaseReleased(String name, long token) implements RowlockEvent {}

    /**
     * This process has given up a part: its task was told to end, and had not done so in time. It may still run, and can write
     * nothing under its fence; another takes the part. Told after {@link NamedLeaseLost}.
     *
     * @param partitions the name of the partitions
     * @param part the part's number
     * @param token the token it was held under
     * @param holder this process
     */
    record PartAbandoned(String partitions, int part, long token, String holder) implements RowlockEvent {}

    /**
     * The session of an {@code AdvisoryLeader} is gone, or has its lock no more.
     *
     * @param name the leader's name
     * @param reason why
     */
    record LeaderSessionLost(String name, String reason) implements RowlockEvent {}
}
