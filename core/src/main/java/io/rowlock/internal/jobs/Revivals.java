package io.rowlock.internal.jobs;

import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.event.RowlockEvent.JobRevived;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.internal.sql.RetakeSql.Keyless;
import io.rowlock.internal.sql.RetakeSql.Merged;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.job.By;
import io.rowlock.job.JobAnswer;
import io.rowlock.spi.AccessPolicy.Action;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Revives one job inside a transaction: ready again, with its dedup key where that is to be had. */
final class Revivals {
    private static final Logger LOG = LoggerFactory.getLogger(Revivals.class);
    private static final int TRIES = 5;
    private static final Duration A_MOMENT = Duration.ofMillis(2);

    private final Desk desk;
    private final RetakeSql retakes;

    Revivals(Desk desk) {
        this.desk = desk;
        this.retakes = desk.sql().retakes();
    }

    /** What has become of the dedup key of a job that waits again. */
    private enum Key {
        /** It has it, or waits without, or another has it and was cancelled. */
        SETTLED,
        /** Another job has it, and this one is cancelled. */
        MERGED,
        /** Another transaction writes it. */
        BUSY
    }

    /**
     * In a transaction of others, which waits for those that write the dedup key as an enqueue does. Where the key is not to be
     * had, or changes hands too often, the job waits without it. With the row that says by whom; told to the listener before it is
     * committed.
     */
    JobAnswer revive(Connection open, long id, By by, RowlockListener listener) throws SQLException {
        return perform(open, id, by, listener, true).orElseThrow();
    }

    /** The same in a transaction of {@link Desk#inOwn}, waiting for nobody's dedup key; empty: nothing is changed, as somebody writes it. */
    Optional<JobAnswer> reviveSoon(Connection open, long id, By by, RowlockListener listener) throws SQLException {
        Savepoint before = open.setSavepoint();
        List<RowlockEvent> events = new ArrayList<>();
        Optional<JobAnswer> answer = perform(open, id, by, events::add, false);
        if (answer.isEmpty()) {
            open.rollback(before);
            return answer;
        }
        open.releaseSavepoint(before);
        events.forEach(listener::on);
        return answer;
    }

    private Optional<JobAnswer> perform(Connection open, long id, By by, RowlockListener listener, boolean waiting)
            throws SQLException {
        Optional<Place> place = desk.lock(open, id);
        if (place.isEmpty()) {
            return Optional.of(JobAnswer.UNKNOWN);
        }
        desk.require(Action.REVIVE, by, place.get());
        if (!desk.sql().operations().revive(open, id)) {
            return Optional.of(desk.sql()
                    .operations()
                    .whereIs(open, id)
                    .map(now -> now.state().terminal() ? JobAnswer.FINISHED : JobAnswer.UNFINISHED)
                    .orElse(JobAnswer.UNKNOWN));
        }
        desk.sql().requests().withdraw(open, id);
        OrderingKey key = place.get().key();
        if (key != null) {
            desk.sql().keys().unblock(open, key, id);
        }
        listener.on(new JobRevived(id, place.get().queue(), place.get().kind(), Cancels.reason("revived", by)));
        Key taken = place.get().dedups() ? takeDedupKey(open, id, listener, waiting) : Key.SETTLED;
        if (taken == Key.BUSY && !waiting) {
            return Optional.empty();
        }
        if (key != null) {
            desk.sql().keys().settleWithin(open, key);
        }
        desk.sql().operations().record(open, id, "revive", by);
        return Optional.of(taken == Key.MERGED ? JobAnswer.MERGED : JobAnswer.DONE);
    }

    private Key takeDedupKey(Connection open, long id, RowlockListener listener, boolean waiting) throws SQLException {
        for (int i = 0; i < TRIES; i++) {
            Optional<Keyless> job = retakes.keyless(open, List.of(id)).stream().findFirst();
            if (job.isEmpty()) {
                return Key.SETTLED;
            }
            Taking taking = () -> job.get().taken() ? merge(open, job.get(), listener) : retake(open, job.get());
            Optional<Key> taken = waiting ? patiently(open, taking) : atOnce(open, taking);
            if (taken.isPresent()) {
                return taken.get();
            }
        }
        return Key.BUSY;
    }

    private Key merge(Connection open, Keyless job, RowlockListener listener) throws SQLException {
        if (job.isApart()) {
            return Key.SETTLED;
        }
        Optional<Merged> merged = retakes.merge(open, job);
        if (merged.isEmpty()) {
            return Key.BUSY; // an open transaction has the other one locked, or it was claimed just now
        }
        Merged made = merged.get();
        LOG.info(
                "A revived job and one that waited under its dedup key were made one (cancelled={}, into={})",
                made.id(),
                made.into());
        listener.on(new JobMerged(made.id(), job.queue(), job.kind(), made.into()));
        return made.id() == job.id() ? Key.MERGED : Key.SETTLED;
    }

    private Key retake(Connection open, Keyless job) throws SQLException {
        retakes.retake(open, List.of(job));
        return Key.SETTLED;
    }

    @FunctionalInterface
    private interface Taking {
        Key take() throws SQLException;
    }

    /** Empty if another job has taken the key meanwhile. */
    private static Optional<Key> patiently(Connection open, Taking taking) throws SQLException {
        Savepoint before = open.setSavepoint();
        try {
            Key taken = taking.take();
            open.releaseSavepoint(before);
            return Optional.of(taken);
        } catch (SQLException e) {
            open.rollback(before);
            if (!SqlState.duplicateKey(e) && !SqlState.lockTimeout(e)) {
                throw e;
            }
            return SqlState.lockTimeout(e) ? Optional.of(Key.BUSY) : Optional.empty();
        }
    }

    /** Busy: the transaction goes on from its savepoint only. */
    private static Optional<Key> atOnce(Connection open, Taking taking) throws SQLException {
        SessionSql.boundLockWaits(open, A_MOMENT);
        try {
            Key taken = taking.take();
            SessionSql.boundLockWaits(open, OwnTransaction.PATIENCE);
            return Optional.of(taken);
        } catch (SQLException e) {
            if (!SqlState.duplicateKey(e) && !SqlState.lockTimeout(e)) {
                throw e;
            }
            return Optional.of(Key.BUSY);
        }
    }
}
