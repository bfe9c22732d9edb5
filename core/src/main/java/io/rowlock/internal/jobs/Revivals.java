package io.rowlock.internal.jobs;

import io.rowlock.event.RowlockEvent.JobRevived;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.internal.sql.RetakeSql.Keyless;
import io.rowlock.internal.sql.RetakeSql.Merged;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.job.By;
import io.rowlock.spi.AccessPolicy.Action;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Revives one job inside a transaction: ready again, with its dedup key where that is to be had. */
final class Revivals {
    private static final Logger LOG = LoggerFactory.getLogger(Revivals.class);
    private static final int TRIES = 5;

    private final Desk desk;
    private final RetakeSql retakes;

    Revivals(Desk desk) {
        this.desk = desk;
        this.retakes = desk.sql().retakes();
    }

    /** With the row that says by whom; told to the listener before it is committed. */
    boolean revive(Connection open, long id, By by, RowlockListener listener) throws SQLException {
        Optional<Place> place = desk.lock(open, id);
        if (place.isEmpty()) {
            return false;
        }
        desk.require(Action.REVIVE, by, place.get());
        if (!desk.sql().operations().revive(open, id)) {
            return false;
        }
        desk.sql().requests().withdraw(open, id);
        OrderingKey key = place.get().key();
        if (key != null) {
            desk.sql().keys().unblock(open, key, id);
        }
        takeDedupKey(open, id);
        if (key != null) {
            desk.sql().keys().settleWithin(open, key);
        }
        desk.sql().operations().record(open, id, "revive", by);
        listener.on(new JobRevived(id, place.get().queue(), place.get().kind(), Cancels.reason("revived", by)));
        return true;
    }

    /**
     * Waits for a transaction that writes the same key, as an enqueue does. Where that is not to be had, or changes hands too
     * often, the job waits without it.
     */
    private void takeDedupKey(Connection open, long id) throws SQLException {
        boolean settled = false;
        for (int i = 0; i < TRIES && !settled; i++) {
            Optional<Keyless> job = retakes.keyless(open, List.of(id)).stream().findFirst();
            settled = job.isEmpty() || (job.get().taken() ? merge(open, job.get()) : retake(open, job.get()));
        }
    }

    private boolean merge(Connection open, Keyless job) throws SQLException {
        Optional<Merged> merged = retakes.merge(open, job);
        merged.ifPresent(made -> LOG.info(
                "A revived job and one that waited under its dedup key were made one (cancelled={}, into={})",
                made.id(),
                made.into()));
        return true;
    }

    /** False if another job has taken the key meanwhile. */
    private boolean retake(Connection open, Keyless job) throws SQLException {
        Savepoint before = open.setSavepoint();
        try {
            retakes.retake(open, List.of(job));
            open.releaseSavepoint(before);
            return true;
        } catch (SQLException e) {
            open.rollback(before);
            if (!SqlState.duplicateKey(e) && !SqlState.lockTimeout(e)) {
                throw e;
            }
            return SqlState.lockTimeout(e);
        }
    }
}
