package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Outcome.RecordedByHandler;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import io.rowlock.worker.HandlerBinding;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job this worker has claimed, from the claim until its outcome is recorded or its lease is lost.
 *
 * <p>Several may want to decide what becomes of it: the handler's end, the timeout, the heartbeat that finds the lease
 * lost, the stop. The first to {@link #settle()} does; what the others say counts for nothing.
 */
final class LeasedJob {
    private static final Logger LOG = LoggerFactory.getLogger(LeasedJob.class);

    /** Somebody's SQL may have made a job due since minus infinity. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    private final ClaimedRow row;
    private final HandlerBinding<?> binding;
    private final AtomicBoolean settled = new AtomicBoolean();
    private final Thread claimer = Thread.currentThread();
    private final long claimedAt;
    private volatile long leasedAt;
    private volatile boolean cancelled;
    private volatile boolean cancelRequested;
    private volatile boolean over;
    private volatile @Nullable RecordedByHandler ended;
    private volatile boolean taken;
    private volatile boolean runEnded;
    private @Nullable Thread thread;
    private @Nullable Connection transaction;
    private boolean started;

    /** @param leasedAt nanoTime before the claim was sent, so that the lease is never thought longer than it is */
    LeasedJob(ClaimedRow row, HandlerBinding<?> binding, long leasedAt) {
        this.row = row;
        this.binding = binding;
        this.claimedAt = leasedAt;
        this.leasedAt = leasedAt;
    }

    ClaimedRow row() {
        return row;
    }

    HandlerBinding<?> binding() {
        return binding;
    }

    long id() {
        return row.id();
    }

    String queue() {
        return row.lane().queue();
    }

    String kind() {
        return row.lane().kind();
    }

    Grip grip() {
        return new Grip(row.id(), row.turn().token());
    }

    boolean suspect() {
        return row.turn().losses() > 0;
    }

    int maxAttempts() {
        Integer own = row.turn().maxAttempts();
        return own != null ? own : binding.settings().retry().maxAttempts();
    }

    boolean lastAttempt() {
        return row.turn().attempt() >= maxAttempts();
    }

    long leasedAt() {
        return leasedAt;
    }

    /** Whether the lease has run out, by the time that has passed here: then another worker may have the job by now. */
    boolean leaseIsOver(Duration lease) {
        return System.nanoTime() - leasedAt >= lease.toNanos();
    }

    void extended(long nanoTime) {
        leasedAt = nanoTime;
    }

    /** Since it was due: by the database's clock until the claim, by the time that has passed here from then on. */
    Duration waited() {
        Instant asked = row.askedAt();
        Instant due = row.runAt().isBefore(asked.minus(LONGEST_WAIT)) ? asked.minus(LONGEST_WAIT) : row.runAt();
        Duration until = due.isBefore(asked) ? Duration.between(due, asked) : Duration.ZERO;
        return until.plusNanos(Math.max(0, System.nanoTime() - claimedAt));
    }

    /** True for the one who decides the outcome. */
    boolean settle() {
        return settled.compareAndSet(false, true);
    }

    /** Its outcome is recorded, or its lease is known to be lost. */
    void over() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    /** The handler's own transaction has written the end of the lease, though it may not have committed. */
    void ended(@Nullable Duration putBackFor) {
        ended = new RecordedByHandler(putBackFor, null);
    }

    boolean isEndedByHandler() {
        return ended != null;
    }

    /** The outcome where something else than the handler's return decides: what its own transaction wrote goes before. */
    Outcome endedOr(Outcome other) {
        RecordedByHandler said = ended;
        return said == null ? other : new RecordedByHandler(said.snoozed(), other);
    }

    /** Somebody has taken the job from this worker, or it died by a timeout, while its handler may run on. */
    void taken() {
        taken = true;
    }

    boolean isTaken() {
        return taken;
    }

    /** Nothing of its run is at work any more. */
    void runEnded() {
        runEnded = true;
    }

    boolean isRunEnded() {
        return runEnded;
    }

    boolean cancelled() {
        return cancelled;
    }

    /** The handler is told to stop; unless it completes the job all the same, that goes back and is cancelled. */
    void requestCancel() {
        if (!cancelRequested) {
            cancelRequested = true;
            cancel();
        }
    }

    /** Its handler has found out by itself, and ends. */
    void cancelWasRequested() {
        cancelRequested = true;
    }

    boolean isCancelRequested() {
        return cancelRequested;
    }

    /** Claims the calling thread for the handler; false if the outcome was decided before it could start. */
    synchronized boolean begin() {
        if (settled.get()) {
            return false;
        }
        started = true;
        thread = Thread.currentThread();
        return true;
    }

    synchronized boolean started() {
        return started;
    }

    /** The transaction to abort when the job is cancelled; none from then on if null. */
    synchronized void inTransaction(@Nullable Connection connection) {
        transaction = connection;
        if (cancelled && connection != null) {
            abort(connection);
        }
    }

    /**
     * The handler has returned: its thread is nobody's to interrupt any more, and no interrupt is left for the next job.
     * On the thread that claimed the job, that of a hand-cranked worker's caller, it is the caller's unless it was ours.
     */
    synchronized void end() {
        thread = null;
        transaction = null;
        if (cancelled || Thread.currentThread() != claimer) {
            Thread.interrupted();
        }
    }

    /** Tells the handler to stop: first its transaction is aborted, so that it cannot commit, then it is interrupted. */
    synchronized void cancel() {
        cancelled = true;
        if (transaction != null) {
            abort(transaction);
        }
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** Whatever the driver does: who cancels has an outcome to hand on. */
    private void abort(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (Throwable e) {
            Described.quietly(() -> LOG.debug("The transaction of a cancelled job was gone already (job={})", id(), e));
        }
    }
}
