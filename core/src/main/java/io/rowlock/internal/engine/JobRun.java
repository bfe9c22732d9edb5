package io.rowlock.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.error.RowlockException;
import io.rowlock.internal.outbox.Headers;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.OneJobSql;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.job.JobContext;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One attempt as its handler sees it. */
final class JobRun implements JobContext {
    private static final int LOCK_TRIES = 40;
    private static final long LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(25);

    private final LeasedJob job;
    private final Identity identity;
    private final OneJobSql sql;
    private final KeySql keys;
    private volatile @Nullable Connection lockedIn;
    private volatile boolean recorded;
    private volatile @Nullable Duration snoozed;

    /** Who runs it, under which lease; what idempotency keys begin with, and what becomes of completed rows. */
    record Identity(String owner, Duration lease, String installation, boolean deleteCompleted) {}

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
    public long token() {
        return job.row().turn().token();
    }

    @Override
    public String idempotencyKey() {
        return identity.installation() + '-' + job.id();
    }

    @Override
    public boolean cancelled() {
        return job.cancelled() || (lockedIn == null && job.leaseIsOver(identity.lease()));
    }

    @Override
    public void lockIn(Connection connection) {
        TransactionCheck.require(connection, "lock a job");
        try {
            await(connection, () -> keyLocked(connection) && sql.lock(connection, identity.owner(), job.grip()));
        } catch (SQLException e) {
            throw new DatabaseException("The job could not be locked (job=" + id() + ")", e);
        }
        lockedIn = connection;
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

    @Override
    public void completeIn(Connection connection) {
        record(
                connection,
                "complete",
                locked -> sql.complete(connection, identity.owner(), job.grip(), locked, identity.deleteCompleted()));
    }

    @Override
    public void snoozeIn(Connection connection, Duration delay) {
        if (delay == null || delay.isNegative() || delay.toDays() > 36_600) {
            throw new InvalidUseException("snoozeIn delay must be between 0 and 100 years, got " + delay);
        }
        record(connection, "snooze", locked -> sql.putBack(connection, identity.owner(), job.grip(), locked, delay));
        snoozed = delay;
    }

    @FunctionalInterface
    private interface Write {
        boolean ifHeld(boolean locked) throws SQLException;
    }

    private void record(Connection connection, String what, Write write) {
        TransactionCheck.require(connection, what + " a job");
        try {
            OrderingKey key = job.row().key();
            if (key != null && connection != lockedIn) {
                await(connection, () -> keyLocked(connection));
            }
            if (!write.ifHeld(connection == lockedIn)) {
                throw refusal(connection, what);
            }
            job.endedByHandler();
            if (key != null) {
                keys.settleWithin(connection, key);
            }
        } catch (SQLException e) {
            throw new DatabaseException("Could not " + what + " the job (job=" + id() + ")", e);
        }
        recorded = true;
    }

    private RowlockException refusal(Connection connection, String what) throws SQLException {
        if (recorded) {
            return new InvalidUseException("The job was completed or snoozed already (job=" + id() + ")");
        }
        String isolation = sql.isolation(connection);
        return isolation.equals("read committed")
                ? lost("Lease lost before the job could be written: cannot " + what + "; it will run again elsewhere")
                : new InvalidUseException("Can " + what + " a job in a READ COMMITTED transaction only, this one is "
                        + isolation + " (job=" + id() + ")");
    }

    private LeaseLostException lost(String message) {
        return new LeaseLostException(message, id(), token());
    }
}
