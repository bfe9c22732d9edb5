package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.CurrentJob;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.internal.sql.CancelRequestSql;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.Hold;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OperationSql;
import io.rowlock.internal.sql.OperationSql.Cancelled;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.internal.sql.RetakeSql.Keyless;
import io.rowlock.internal.sql.RetakeSql.Merged;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What people do to single jobs, in a transaction of its own or in the caller's, under the lock of the job's key; each time
 * that changes something a row says who did it, and why.
 */
final class Operations {
    private static final Logger LOG = LoggerFactory.getLogger(Operations.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int TRIES = 5;
    private static final int LOCK_TRIES = 10;
    private static final long LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(25);
    private static final int MAX_REASON = 2_000;

    private final Names tables;
    private final OperationSql sql;
    private final KeySql keys;
    private final RetakeSql retakes;
    private final CancelRequestSql requests;
    private final ConnectionSource connections;
    private final @Nullable Connection bound;
    private final RowJobs.Committed committed;

    Operations(
            Names tables,
            OperationSql sql,
            KeySql keys,
            RetakeSql retakes,
            CancelRequestSql requests,
            ConnectionSource connections,
            @Nullable Connection bound,
            RowJobs.Committed committed) {
        this.tables = tables;
        this.sql = sql;
        this.keys = keys;
        this.retakes = retakes;
        this.requests = requests;
        this.connections = connections;
        this.bound = bound;
        this.committed = committed;
    }

    Operations in(Connection connection) {
        return new Operations(tables, sql, keys, retakes, requests, connections, connection, committed);
    }

    Cancellation cancel(long id, By by) {
        Cancel made = inTransaction("cancelled", open -> {
            Cancel done = cancel(open, id, by);
            if (done.answer() == Cancellation.STOPPED || done.answer() == Cancellation.REQUESTED) {
                sql.record(open, id, "cancel", by);
            }
            return done;
        });
        LOG.info("Cancel of a job: {} (job={}, by={}): {}", made.answer(), id, by.who(), by.why());
        if (bound == null && made.answer() == Cancellation.REQUESTED) {
            (made.asked() ? committed.requested() : committed.cancelled()).accept(id);
        }
        if (bound == null) {
            committed.maybeDue().run();
        }
        return made.answer();
    }

    /** The answer; asked: the row was locked, and whoever works on the job is to end it. */
    private record Cancel(Cancellation answer, boolean asked) {}

    private Cancel cancel(Connection open, long id, By by) throws SQLException {
        if (bound != null && CurrentJob.isAtWork(tables, id)) {
            throw new InvalidUseException(
                    "A handler must not cancel its own job in a transaction of its own, which could then"
                            + " not be completed; throw PermanentFailure to give up, or cancel it by jobs().cancel() (job="
                            + id + ")");
        }
        Optional<Place> place = sql.whereIs(open, id);
        if (place.isEmpty()) {
            return new Cancel(Cancellation.UNKNOWN, false);
        }
        if (place.get().leased() && !lockSoon(open, id, place.get().key())) {
            requests.request(open, id, reason("cancelled", by));
            return new Cancel(Cancellation.REQUESTED, true);
        }
        OrderingKey key = place.get().key();
        if (key != null) {
            sql.lockKey(open, key);
        }
        Optional<Cancelled> cancelled = sql.cancel(open, id, reason("cancelled", by));
        if (key != null && cancelled.isPresent()) {
            if (cancelled.get().leased()) { // its handler may run on
                keys.hold(
                        open,
                        new Hold(key, id, cancelled.get().token()),
                        cancelled.get().lease());
            }
            keys.settleWithin(open, key);
        }
        return new Cancel(
                cancelled
                        .map(was -> was.leased() ? Cancellation.REQUESTED : Cancellation.STOPPED)
                        .orElse(Cancellation.ALREADY_FINISHED),
                false);
    }

    /** False if the handler's own transaction has the key or the row locked; the engine has either for a moment only. */
    private boolean lockSoon(Connection open, long id, @Nullable OrderingKey key) throws SQLException {
        boolean keyLocked = key == null;
        for (int i = 0; i < LOCK_TRIES; i++) {
            keyLocked = keyLocked || sql.tryLockKey(open, Objects.requireNonNull(key));
            if (keyLocked && sql.tryLock(open, id)) {
                return true;
            }
            LockSupport.parkNanos(LOCK_PAUSE);
        }
        return !sql.whereIs(open, id).map(Place::leased).orElse(false);
    }

    boolean revive(long id, By by) {
        boolean revived = inTransaction("revived", open -> {
            Optional<Place> place = lock(open, id);
            boolean done = place.isPresent() && sql.revive(open, id);
            if (done) {
                requests.withdraw(open, id);
            }
            OrderingKey key = done ? place.get().key() : null;
            if (key != null) {
                keys.unblock(open, key, id);
            }
            if (done) {
                takeDedupKey(open, id);
            }
            if (key != null) {
                keys.settleWithin(open, key);
            }
            if (done) {
                sql.record(open, id, "revive", by);
            }
            return done;
        });
        LOG.info("Revive of a job: {} (job={}, by={}): {}", revived, id, by.who(), by.why());
        if (bound == null) {
            committed.maybeDue().run();
        }
        return revived;
    }

    boolean skip(long id, By by) {
        boolean skipped = inTransaction("skipped", open -> {
            Optional<Place> place = lock(open, id);
            OrderingKey key = place.isPresent() ? place.get().key() : null;
            if (key == null || !keys.unblock(open, key, id)) {
                return false;
            }
            keys.settleWithin(open, key);
            sql.record(open, id, "skip", by);
            return true;
        });
        LOG.info("Skip of a dead head: {} (job={}, by={}): {}", skipped, id, by.who(), by.why());
        if (bound == null) {
            committed.maybeDue().run();
        }
        return skipped;
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

    private Optional<Place> lock(Connection open, long id) throws SQLException {
        Optional<Place> place = sql.whereIs(open, id);
        OrderingKey key = place.isPresent() ? place.get().key() : null;
        if (key != null) {
            sql.lockKey(open, key);
        }
        return place;
    }

    private static String reason(String what, By by) {
        String text = what + " by " + by.who() + ": " + by.why();
        return text.length() > MAX_REASON ? text.substring(0, MAX_REASON) : text;
    }

    @FunctionalInterface
    private interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    private <T> T inTransaction(String what, Work<T> work) {
        try {
            if (bound != null) {
                TransactionCheck.require(bound, "change a job");
                requireReadCommitted(bound);
                return work.over(bound);
            }
            try (Connection connection = connections.get()) {
                return own(connection, work);
            }
        } catch (SQLException e) {
            throw new DatabaseException(
                    "The job could not be " + what + "; if another transaction holds its row, try again later", e);
        }
    }

    /** Under a snapshot of the whole transaction, what the last holder of a key's lock did could not be seen. */
    private void requireReadCommitted(Connection connection) throws SQLException {
        String isolation = sql.isolation(connection);
        if (!isolation.equals("read committed")) {
            throw new InvalidUseException(
                    "Can change a job in a READ COMMITTED transaction only, this one is " + isolation);
        }
    }

    private <T> T own(Connection connection, Work<T> work) throws SQLException {
        int isolation = connection.getTransactionIsolation();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        try {
            SessionSql.boundLockWaits(connection, PATIENCE);
            T result = work.over(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException e) {
            rollBack(connection, e);
            throw e;
        } finally {
            connection.setAutoCommit(true);
            connection.setTransactionIsolation(isolation);
        }
    }

    private static void rollBack(Connection connection, Exception because) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            because.addSuppressed(e);
        }
    }
}
