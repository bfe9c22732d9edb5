package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobHandedBack;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.RecordedByHandler;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.sql.OutcomeSql.Grip;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What follows when an outcome was written, or could not be as the lease was lost: the job is let go, and it is told. */
final class Aftermath {
    private static final Logger LOG = LoggerFactory.getLogger(Aftermath.class);

    private final Events events;
    private final String owner;
    private final Consumer<LeasedJob> letGo;
    private final LongConsumer keyless;
    private final Consumer<Duration> dueAgain;
    private final Set<Grip> doubtful = new HashSet<>();

    /**
     * Tells on behalf of one worker.
     *
     * @param letGo hears of each job whose lease is over
     * @param keyless hears of each job that waits again without its dedup key
     * @param dueAgain hears after which delay a job that this worker put back is due again
     */
    Aftermath(
            Events events, String owner, Consumer<LeasedJob> letGo, LongConsumer keyless, Consumer<Duration> dueAgain) {
        this.events = events;
        this.owner = owner;
        this.letGo = letGo;
        this.keyless = keyless;
        this.dueAgain = dueAgain;
    }

    /** The connection failed while these were written: a row that is gone later may be our own doing. */
    void doubt(Collection<Settled> batch) {
        batch.forEach(settled -> doubtful.add(settled.grip()));
    }

    /** Gives up on an outcome: its job is no longer kept up here. */
    void forget(Settled settled) {
        doubtful.remove(settled.grip());
        settled.job().over();
        letGo.accept(settled.job());
    }

    void recorded(Settled settled) {
        if (settled.outcome() instanceof Died died && died.timedOut()) {
            settled.job().taken();
        }
        forget(settled);
        if (settled.job().row().contents().deduplicated() && waitsAgain(settled.outcome())) {
            keyless.accept(settled.job().id());
        }
        Duration delay = delayOf(settled.outcome());
        if (delay != null) {
            dueAgain.accept(delay);
        }
        events.tell(eventOf(settled));
    }

    void lost(Settled settled) {
        LeasedJob job = settled.job();
        boolean mayBeRecorded = doubtful.contains(settled.grip());
        job.taken();
        forget(settled);
        if (mayBeRecorded) {
            LOG.info(
                    "The connection was lost while an outcome was written; it was recorded, or the lease was lost"
                            + " (job={}, kind={}, attempt={})",
                    job.id(),
                    job.kind(),
                    job.row().turn().attempt());
            return;
        }
        LOG.info(
                "Lease lost before the outcome could be recorded; the job runs again elsewhere"
                        + " (job={}, kind={}, attempt={}, worker={})",
                job.id(),
                job.kind(),
                job.row().turn().attempt(),
                owner);
        events.tell(new LeaseLost(
                job.id(), job.queue(), job.kind(), job.row().turn().attempt()));
    }

    private static boolean waitsAgain(Outcome outcome) {
        return outcome instanceof Retried
                || outcome instanceof PutBack
                || (outcome instanceof RecordedByHandler byHandler && byHandler.snoozed() != null);
    }

    /** After which delay this worker may take the job again; handed back is for another worker. */
    private static @Nullable Duration delayOf(Outcome outcome) {
        if (outcome instanceof Retried retried) {
            return retried.delay();
        }
        if (outcome instanceof PutBack back && back.snoozed()) {
            return back.delay();
        }
        return outcome instanceof RecordedByHandler byHandler ? byHandler.snoozed() : null;
    }

    private static RowlockEvent eventOf(Settled settled) {
        LeasedJob job = settled.job();
        int attempt = job.row().turn().attempt();
        if (settled.outcome() instanceof Retried retried) {
            return new JobRetried(
                    job.id(),
                    job.queue(),
                    job.kind(),
                    attempt,
                    retried.delay(),
                    retried.failure().message());
        }
        if (settled.outcome() instanceof Died died) {
            return new JobDied(
                    job.id(), job.queue(), job.kind(), attempt, died.failure().message());
        }
        if (settled.outcome() instanceof PutBack back) {
            return back.snoozed()
                    ? new JobSnoozed(job.id(), job.queue(), job.kind(), back.delay())
                    : new JobHandedBack(job.id(), job.queue(), job.kind());
        }
        if (settled.outcome() instanceof RecordedByHandler byHandler && byHandler.snoozed() != null) {
            return new JobSnoozed(job.id(), job.queue(), job.kind(), byHandler.snoozed());
        }
        return new JobCompleted(job.id(), job.queue(), job.kind(), attempt);
    }
}
