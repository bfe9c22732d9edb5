package io.rowlock.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.internal.outbox.Headers;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.OneJobSql;
import io.rowlock.internal.sql.OneJobSql.Holder;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.job.JobContext;
import io.rowlock.job.PermanentFailure;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One attempt as its handler sees it. */
final class JobRun implements JobContext, DriverLease {
    private static final int LOCK_TRIES = 40;
    private static final long LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(25);

    private final LeasedJob job;
    private final Identity identity;
    private final OneJobSql sql;
    private final KeySql keys;
    private volatile @Nullable Locked locked;
    private volatile boolean bound;
    private volatile boolean recorded;
    private volatile @Nullable Duration snoozed;

    /** Who runs it, under which lease; what idempotency keys begin with, what becomes of completed rows, whether it stops. */
    record Identity(
            String owner, Duration lease, String installation, boolean deleteCompleted, BooleanSupplier stopping) {}

    /** Where the row was locked: who completes the job over that connection must do so in the same transaction. */
    private record Locked(Connection connection, Holder holder) {
        String transaction() {
            return holder.transaction();
        }
    }

    JobRun(LeasedJob job, Identity identity, OneJobSql sql, KeySql keys) {
        this.job = job;
        this.identity = identity;
        this.sql = sql;
        this.keys = keys;
    }

    /** Whether the handler's own transaction was told to complete the job or to put it back. */
    boolean recorded() {
        return recorded;
    }

    /** For how long it put the job back; null if it did not. */
    @Nullable
    Duration snoozed() {
        return snoozed;
    }

    /** Locks the row for a transactional handler: from now on no other transaction can lock or write it. */
    void begin(Connection connection) {
        lockIn(connection);
        bound = true;
    }

    /** Completes the job in the transaction that {@link #begin} locked it in, unless the handler did or put it back. */
    void end(Connection connection) throws SQLException {
        if (!recorded) {
            completeIn(connection);
        } else if (!sql.transaction(connection).equals(lockedBy(connection))) {
            throw ended();
        } else if (sql.held(connection, identity.owner(), job.grip())) {
            throw new InvalidUseException(
                    "What completed or snoozed the job was rolled back to a savepoint, the rest was"
                            + " not; set the savepoint after it, or leave the completion to Rowlock (job=" + id()
                            + ")");
        }
    }

    /** The transaction that locked the row; null if none did. */
    @Nullable
    Holder holder() {
        Locked last = locked;
        return last == null ? null : last.holder();
    }

    PermanentFailure ended() {
        return new PermanentFailure(
                "The handler ended the transaction that also completes the job, or used another one;"
                        + " leave its end to Rowlock, and throw to roll back (job=" + id() + ")");
    }

    @Override
    public Duration length() {
        return identity.lease();
    }

    @Override
    public long id() {
        return job.id();
    }

    @Override
    public String kind() {
        return job.kind();
    }

    @Override
    public String queue() {
        return job.row().lane().queue();
    }

    @Override
    public @Nullable String subject() {
        return job.row().contents().subject();
    }

    @Override
    public Map<String, String> headers() {
        return Headers.read(job.row().contents().headers());
    }

    @Override
    public int attempt() {
        return job.row().turn().attempt();
    }

    @Override
    public int maxAttempts() {
        return job.maxAttempts();
    }

    @Override
    public String owner() {
        return identity.owner();
    }

    @Override
    public int losses() {
        return job.row().turn().losses();
    }

    @Override
    public boolean deleteCompleted() {
        return identity.deleteCompleted();
    }

    @Override
    public boolean stopping() {
        return identity.stopping().getAsBoolean();
    }

    @Override
    public boolean takenAway() {
        return job.cancelled();
    }

    @Override
    public void ended(@Nullable Duration putBackFor) {
        snoozed = putBackFor;
        job.ended(putBackFor);
        recorded = true;
    }

    @Override
    public long token() {
        return job.row().turn().token();
    }

    @Override
    public String idempotencyKey() {
        return identity.installation() + '-' + job.id();
    }

    @Override
    public boolean cancelled() {
        return job.cancelled() || (locked == null && job.leaseIsOver(identity.lease()));
    }

    @Override
    public void lockIn(Connection connection) {
        TransactionCheck.require(connection, "lock a job");
        try {
            await(connection, () -> {
                Holder holder = keyLocked(connection) ? sql.lock(connection, identity.owner(), job.grip()) : null;
                if (holder != null) {
                    lockedBy(connection, holder);
                }
                return holder != null;
            });
        } catch (SQLException e) {
            throw new DatabaseException("The job could not be locked (job=" + id() + ")", e);
        }
    }

    private boolean keyLocked(Connection connection) throws SQLException {
        OrderingKey key = job.row().key();
        return key == null || keys.lockFor(connection, key, id());
    }

    @FunctionalInterface
    private interface Lock {
        boolean taken() throws SQLException;
    }

    /** Never waits inside the server for whoever holds a lock, and not for ever here. */
    private void await(Connection connection, Lock lock) throws SQLException {
        for (int i = 0; i < LOCK_TRIES && !job.cancelled(); i++) {
            if (lock.taken()) {
                return;
            }
            if (!sql.held(connection, identity.owner(), job.grip())) {
                throw lost("Lease lost before the job could be locked; it runs again elsewhere");
            }
            LockSupport.parkNanos(LOCK_PAUSE);
        }
        if (job.cancelled()) {
            throw lost("Lease lost before the job could be locked; it will run again elsewhere");
        }
        throw new RowBusyException(id());
    }

    private void lockedBy(Connection connection, Holder holder) {
        Locked last = locked;
        if (bound && last != null && !holder.transaction().equals(last.transaction())) {
            throw ended();
        }
        locked = new Locked(connection, holder);
    }

    /** The transaction in which alone the row may be written over this connection; null if in any. */
    private @Nullable String lockedBy(Connection connection) {
        Locked last = locked;
        return last != null && (bound || connection == last.connection()) ? last.transaction() : null;
    }

    @Override
    public void completeIn(Connection connection) {
        record(
                connection,
                "complete",
                null,
                by -> sql.complete(connection, identity.owner(), job.grip(), by, identity.deleteCompleted()));
    }

    @Override
    public void snoozeIn(Connection connection, Duration delay) {
        if (delay == null || delay.isNegative() || delay.toDays() > 36_600) {
            throw new InvalidUseException("snoozeIn delay must be between 0 and 100 years, got " + delay);
        }
        record(connection, "snooze", delay, by -> sql.putBack(connection, identity.owner(), job.grip(), by, delay));
    }

    @FunctionalInterface
    private interface Write {
        boolean ifHeld(@Nullable String lockedBy) throws SQLException;
    }

    private void record(Connection connection, String what, @Nullable Duration putBackFor, Write write) {
        TransactionCheck.require(connection, what + " a job");
        try {
            String lockedBy = lockedBy(connection);
            OrderingKey key = job.row().key();
            if (key != null && lockedBy == null) {
                await(connection, () -> keyLocked(connection));
            }
            if (!write.ifHeld(lockedBy)) {
                refuseUnlessBusy(connection, what);
                await(connection, () -> write.ifHeld(lockedBy));
            }
            job.ended(putBackFor);
            if (key != null) {
                keys.settleWithin(connection, key);
            }
        } catch (SQLException e) {
            throw new DatabaseException("Could not " + what + " the job (job=" + id() + ")", e);
        }
        snoozed = putBackFor;
        recorded = true;
    }

    /** Returns if the job is ours and nothing forbids to write it, so that somebody must have its row locked. */
    private void refuseUnlessBusy(Connection connection, String what) throws SQLException {
        String lockedBy = lockedBy(connection);
        if (lockedBy != null && !lockedBy.equals(sql.transaction(connection))) {
            throw ended();
        }
        if (recorded) {
            throw new InvalidUseException("The job was completed or snoozed already (job=" + id() + ")");
        }
        String isolation = sql.isolation(connection);
        if (!isolation.equals("read committed")) {
            throw new InvalidUseException("Can " + what + " a job in a READ COMMITTED transaction only, this one is "
                    + isolation + " (job=" + id() + ")");
        }
        if (sql.cancelRequested(connection, id())) {
            job.cancelWasRequested();
            throw lost("A cancel of the job was asked for: cannot " + what + "; roll its transaction back");
        }
        if (!sql.held(connection, identity.owner(), job.grip()) || job.leaseIsOver(identity.lease())) {
            throw lost("Lease lost before the job could be written: cannot " + what + "; it will run again elsewhere");
        }
    }

    private LeaseLostException lost(String message) {
        return new LeaseLostException(message, id(), token());
    }
}
