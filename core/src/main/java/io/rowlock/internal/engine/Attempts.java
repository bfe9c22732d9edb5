package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.AttemptEnded;
import io.rowlock.event.RowlockEvent.AttemptStarted;
import io.rowlock.event.RowlockEvent.JobTimedOut;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one attempt after another on the runners' threads: handler, verdict, outcome to the completer, slot freed. An
 * attempt that takes too long is decided by the timer; its slot stays taken until its thread ends.
 */
final class Attempts {
    private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);

    /** When not even the failure could be described, as with no memory left. */
    private static final Failure UNKNOWN = new Failure("unknown", "the attempt could not be ended", "");

    private static final Outcome IN_DOUBT = new Outcome.Retried(Duration.ofMinutes(1), false, UNKNOWN);

    private final Handlers handlers;
    private final Completer completer;
    private final Slots slots;
    private final Duration lease;
    private final Events events;
    private final Consumer<Run> ended;
    private final ScheduledThreadPoolExecutor timer;
    private volatile boolean ending;

    /** @param ended frees the slot of a run */
    Attempts(Handlers handlers, Completer completer, Slots slots, Duration lease, Events events, Consumer<Run> ended) {
        this.handlers = handlers;
        this.lease = lease;
        this.completer = completer;
        this.slots = slots;
        this.events = events;
        this.ended = ended;
        this.timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "rowlock-timeouts");
            thread.setDaemon(true);
            return thread;
        });
        this.timer.setRemoveOnCancelPolicy(true);
    }

    /** Runs one job after another until one does not complete; what follows that one is handed back. Never throws. */
    void run(Run run) {
        boolean goesOn = true;
        for (LeasedJob job = run.next(); job != null; job = goesOn && !ending ? run.next() : null) {
            goesOn = run(job);
        }
        handBack(run);
    }

    /** After this, no run goes on to its next job. */
    void endRuns() {
        ending = true;
    }

    /** Hands back what of a run has not begun, and frees its slot. */
    void handBack(Run run) {
        run.takeRest().forEach(this::handBack);
        ended.accept(run);
    }

    /** Hands a job back, and tells its handler to stop if it runs; false if its outcome was decided before. */
    boolean handBack(LeasedJob job) {
        boolean decided = job.settle();
        if (decided) {
            job.cancel();
            completer.add(job, job.endedOr(new Outcome.PutBack(Duration.ZERO, false)));
        }
        return decided;
    }

    /** True if the job completed. Where the lease has run out meanwhile, the job may be another worker's by now. */
    private boolean run(LeasedJob job) {
        if (job.leaseIsOver(lease)) {
            handBack(job);
            return false;
        }
        long startedAt = System.nanoTime();
        try {
            return job.begin() && attempt(job);
        } catch (Throwable thrown) {
            if (job.settle()) {
                completer.add(job, job.endedOr(job.lastAttempt() ? new Outcome.Died(UNKNOWN, false) : IN_DOUBT));
            }
            Described.quietly(() -> LOG.error(
                    "An attempt could not be brought to an end (job={}, kind={})", job.id(), job.kind(), thrown));
            return false;
        } finally {
            slots.ran(job, System.nanoTime() - startedAt);
        }
    }

    private boolean attempt(LeasedJob job) {
        tellStarted(job);
        long startedAt = System.nanoTime();
        ScheduledFuture<?> timeout = startTimer(job);
        Outcome outcome;
        Throwable failure = null;
        try {
            outcome = handlers.run(job);
        } catch (Throwable thrown) {
            failure = thrown;
            outcome = job.endedOr(Verdicts.onThrow(job, thrown));
            Described.quietly(() -> LOG.debug(
                    "Attempt failed (job={}, kind={}, attempt={})",
                    job.id(),
                    job.kind(),
                    job.row().turn().attempt(),
                    thrown));
        } finally {
            job.end();
            if (timeout != null) {
                timeout.cancel(false);
            }
        }
        tellEnded(job, System.nanoTime() - startedAt, failure);
        if (job.isCancelRequested() && !(outcome instanceof Outcome.RecordedByHandler)) {
            outcome = Outcome.UNTIL_CANCELLED;
        }
        boolean decided = job.settle();
        if (decided) {
            completer.add(job, outcome);
        } else {
            LOG.info(
                    "A handler ended after its job was taken from it; what it returned or threw counts for nothing"
                            + " (job={}, kind={}, attempt={})",
                    job.id(),
                    job.kind(),
                    job.row().turn().attempt());
        }
        return decided && completes(outcome);
    }

    private void tellStarted(LeasedJob job) {
        if (events.areHeard()) {
            events.tell(new AttemptStarted(
                    job.id(), job.queue(), job.kind(), job.row().turn().attempt(), job.waited()));
        }
    }

    private void tellEnded(LeasedJob job, long nanos, @Nullable Throwable thrown) {
        if (events.areHeard()) {
            events.tell(new AttemptEnded(
                    job.id(), job.queue(), job.kind(), job.row().turn().attempt(), Duration.ofNanos(nanos), thrown));
        }
    }

    private static boolean completes(Outcome outcome) {
        return outcome instanceof Outcome.Completed
                || (outcome instanceof Outcome.RecordedByHandler byHandler
                        && byHandler.snoozed() == null
                        && byHandler.otherwise() == null);
    }

    private @Nullable ScheduledFuture<?> startTimer(LeasedJob job) {
        Duration limit = job.binding().settings().timeout();
        return limit == null ? null : timer.schedule(() -> timedOut(job, limit), limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void timedOut(LeasedJob job, Duration limit) {
        if (!job.settle()) {
            return;
        }
        LOG.warn(
                "An attempt took longer than its timeout of {}; it is interrupted, and unless its job has ended retried no"
                        + " earlier than its lease ends (job={}, kind={}, attempt={})",
                limit,
                job.id(),
                job.kind(),
                job.row().turn().attempt());
        job.cancel();
        completer.add(job, job.endedOr(Verdicts.onTimeout(job, limit)));
        events.tell(new JobTimedOut(
                job.id(), job.queue(), job.kind(), job.row().turn().attempt(), limit));
    }

    void stop() {
        timer.shutdownNow();
    }
}
