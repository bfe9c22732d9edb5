package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.JobCancelled;
import io.rowlock.internal.sql.CancelRequestSql;
import io.rowlock.internal.sql.CancelRequestSql.Done;
import io.rowlock.internal.sql.CancelRequestSql.Pending;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SqlState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out cancels of jobs whose rows their handlers have locked. The worker that has such a job tells its handler to
 * stop, and puts the job back when it has; then any worker cancels it, as it waits. On the heartbeat's thread.
 */
final class CancelRequests {
    private static final Logger LOG = LoggerFactory.getLogger(CancelRequests.class);
    private static final int MOST = 1_000;
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(200);

    private final EngineConnection connection;
    private final CancelRequestSql sql;
    private final KeySql keys;
    private final InFlight inFlight;
    private final Events events;
    private final Runnable worthClaiming;

    /** @param worthClaiming called when the next of an ordering key may begin */
    CancelRequests(
            EngineConnection connection, EngineSql sql, InFlight inFlight, Events events, Runnable worthClaiming) {
        this.connection = connection;
        this.sql = sql.cancelRequests();
        this.keys = sql.keys();
        this.inFlight = inFlight;
        this.events = events;
        this.worthClaiming = worthClaiming;
    }

    /** Tells whose jobs are to be cancelled and cancels what waits; gives when to look again, Long.MAX_VALUE for in no hurry. */
    long step() throws SQLException {
        try {
            List<Pending> pending = connection.call(open -> sql.pending(open, MOST));
            boolean told = false;
            for (Pending each : pending) {
                told |= tell(each.job());
            }
            if (!pending.isEmpty()) {
                carryOut(pending);
            }
            return told ? SOON : Long.MAX_VALUE;
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                throw e;
            }
            LOG.warn("Cancels that were asked for have to wait; leases are kept up all the same", e);
            return Long.MAX_VALUE;
        }
    }

    /** True if the job is at work here. */
    boolean tell(long job) {
        boolean here = false;
        for (LeasedJob leased : inFlight.all()) {
            if (leased.id() == job) {
                leased.requestCancel();
                here = true;
            }
        }
        return here;
    }

    private void carryOut(List<Pending> pending) throws SQLException {
        List<Long> finished = new ArrayList<>();
        Set<OrderingKey> theirs = new TreeSet<>();
        boolean some = false;
        for (Pending each : pending) {
            if (each.waiting() == null) {
                finished.add(each.job());
            } else if (each.waiting()) {
                some = true;
                if (each.key() != null) {
                    theirs.add(each.key());
                }
            }
        }
        if (!some && finished.isEmpty()) {
            return;
        }
        if (!theirs.isEmpty()) {
            connection.call(open -> {
                keys.note(open, theirs);
                return true;
            });
        }
        List<Done> done = connection.inTransaction(open -> {
            Set<OrderingKey> locked = new HashSet<>();
            for (LockedKey key : keys.lock(open, theirs)) {
                locked.add(key.key());
            }
            List<Long> waiting = pending.stream()
                    .filter(each -> Boolean.TRUE.equals(each.waiting()))
                    .filter(each -> each.key() == null || locked.contains(each.key()))
                    .map(Pending::job)
                    .toList();
            List<Done> cancelled = sql.carryOut(open, waiting, finished);
            if (!locked.isEmpty()) {
                keys.settle(open, locked);
            }
            return cancelled;
        });
        done.forEach(each ->
                events.tell(new JobCancelled(each.job(), each.queue(), each.kind(), String.valueOf(each.reason()))));
        worthClaiming.run();
    }
}
