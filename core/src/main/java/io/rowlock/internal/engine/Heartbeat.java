package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.internal.sql.OutcomeSql;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extends the leases of jobs that have outlived a third of theirs, quicker ones are never touched; and the slots of
 * limits that this worker holds. On a thread and a
 * connection of its own, so that no work can starve it. A job whose lease turns out lost is told to stop; one that is
 * merely locked by somebody is left for the next beat.
 */
final class Heartbeat {
    private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);
    private static final int MOST = 500;

    private final EngineConnection connection;
    private final OutcomeSql sql;
    private final InFlight inFlight;
    private final Limits limits;
    private final Consumer<LeasedJob> letGo;
    private final Events events;
    private final String owner;
    private final Duration lease;

    Heartbeat(
            EngineConnection connection,
            OutcomeSql sql,
            InFlight inFlight,
            Limits limits,
            Consumer<LeasedJob> letGo,
            Events events,
            String owner,
            Duration lease) {
        this.connection = connection;
        this.sql = sql;
        this.inFlight = inFlight;
        this.limits = limits;
        this.letGo = letGo;
        this.events = events;
        this.owner = owner;
        this.lease = lease;
    }

    /** One beat; the next one is due after a sixth of a lease. */
    long step() throws SQLException {
        Map<Long, LeasedJob> newest = new HashMap<>();
        for (LeasedJob job : inFlight.all()) {
            newest.merge(
                    job.id(),
                    job,
                    (one, other) -> one.grip().token() > other.grip().token() ? one : other);
        }
        List<LeasedJob> old = new ArrayList<>();
        for (LeasedJob job : inFlight.all()) {
            if (newest.get(job.id()) != job) {
                lost(job); // this worker has claimed it again since
            } else if (old(job)) {
                old.add(job);
            }
        }
        for (int from = 0; from < old.size(); from += MOST) {
            extend(old.subList(from, Math.min(old.size(), from + MOST)));
        }
        limits.extend(connection);
        return lease.toNanos() / 6;
    }

    /** Whether the job has outlived a third of its lease. */
    boolean old(LeasedJob job) {
        return System.nanoTime() - job.leasedAt() >= lease.toNanos() / 3;
    }

    private void extend(List<LeasedJob> jobs) throws SQLException {
        long sentAt = System.nanoTime();
        Set<Long> extended = connection.call(open -> sql.heartbeat(open, owner, grips(jobs), lease));
        List<LeasedJob> missing = new ArrayList<>();
        for (LeasedJob job : jobs) {
            if (extended.contains(job.id())) {
                job.extended(sentAt);
            } else {
                missing.add(job);
            }
        }
        if (!missing.isEmpty()) {
            Set<Long> held = connection.call(open -> sql.stillHeld(open, owner, grips(missing)));
            missing.stream().filter(job -> !held.contains(job.id())).forEach(this::lost);
        }
    }

    /**
     * Only where nobody has decided the outcome: else the completer finds out by itself, and tells. Nor where the handler's
     * own transaction has ended the lease: it has most likely committed, and the completer looks when the handler returns.
     */
    private void lost(LeasedJob job) {
        if (!job.isEndedByHandler() && job.settle()) {
            job.taken();
            letGo.accept(job);
            LOG.info(
                    "Lease lost while the handler runs; it is told to stop: the job was cancelled, or runs again elsewhere"
                            + " (job={}, kind={}, attempt={}, worker={})",
                    job.id(),
                    job.kind(),
                    job.row().turn().attempt(),
                    owner);
            job.cancel();
            events.tell(new LeaseLost(
                    job.id(), job.queue(), job.kind(), job.row().turn().attempt()));
        }
    }

    private static List<OutcomeSql.Grip> grips(List<LeasedJob> jobs) {
        return jobs.stream().map(LeasedJob::grip).toList();
    }
}
