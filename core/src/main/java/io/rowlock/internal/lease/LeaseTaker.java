package io.rowlock.internal.lease;

import io.rowlock.event.RowlockEvent.NamedLeaseReleased;
import io.rowlock.event.RowlockEvent.NamedLeaseTaken;
import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.engine.EngineConnection.Work;
import io.rowlock.internal.engine.Events;
import io.rowlock.internal.sql.LeaseSql;
import io.rowlock.internal.sql.LeaseSql.Held;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.lease.Holding;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes leases, and gives them back, in short transactions; makes its keeper keep up what it took. */
final class LeaseTaker implements HeldLease.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseTaker.class);
    private static final Duration MOST_PATIENCE = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final Duration STANDSTILL = Duration.ofSeconds(1);

    final LeaseSql sql;
    final Keeper keeper;
    final String holder;
    private final ConnectionSource connections;
    private final Events events;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();
    private long releases;

    LeaseTaker(ConnectionSource connections, LeaseSql sql, Events events, String holder) {
        this.connections = connections;
        this.sql = sql;
        this.events = events;
        this.holder = holder;
        this.keeper = new Keeper(connections, sql, events, holder);
    }

    /** Over a connection that is borrowed for it; waits for a transaction under the fence of one that ran out, at most 5 s. */
    Optional<HeldLease> tryTake(String name, Duration timeToLive) throws SQLException {
        Duration third = timeToLive.dividedBy(3);
        Duration patience = third.compareTo(MOST_PATIENCE) < 0 ? third : MOST_PATIENCE;
        try (EngineConnection open = EngineConnection.withoutSession(connections, ANSWER)) {
            long sentAt = System.nanoTime();
            return held(name, timeToLive, sentAt, takePatiently(open, name, timeToLive, patience));
        }
    }

    /** Waits for none: for who looks again anyway. */
    Optional<HeldLease> tryTake(EngineConnection open, String name, Duration timeToLive) throws SQLException {
        long sentAt = System.nanoTime();
        Optional<Long> token = inTransaction(open, MOST_PATIENCE, one -> {
            Optional<Long> taken = sql.takeUnfenced(one, name, holder, timeToLive);
            return taken.isEmpty() && sql.make(one, name) ? sql.takeUnfenced(one, name, holder, timeToLive) : taken;
        });
        return held(name, timeToLive, sentAt, token);
    }

    /** Empty if it is held, or a transaction under the fence of one that ran out is still open. */
    private Optional<HeldLease> held(String name, Duration timeToLive, long sentAt, Optional<Long> token) {
        if (token.isEmpty()) {
            return Optional.empty();
        }
        Held row = new Held(name, token.get());
        HeldLease lease = new HeldLease(row, holder, timeToLive, new RowFence(sql, row), this, sentAt);
        keeper.add(lease);
        LOG.debug("Taken (lease={}, token={})", name, row.token());
        events.tell(new NamedLeaseTaken(name, row.token(), holder));
        return lease.isHeld() ? Optional.of(lease) : Optional.empty(); // the answer may have come too late
    }

    private Optional<Long> takePatiently(EngineConnection open, String name, Duration timeToLive, Duration patience)
            throws SQLException {
        try {
            return open.inTransaction(one -> {
                SessionSql.begin(one, patience, patience.multipliedBy(4).plus(STANDSTILL), patience.plus(STANDSTILL));
                Optional<Long> token = sql.take(one, name, holder, timeToLive);
                return token.isEmpty() && sql.make(one, name) ? sql.take(one, name, holder, timeToLive) : token;
            });
        } catch (SQLException e) {
            if (SqlState.lockTimeout(e) || SqlState.canceled(e)) {
                LOG.debug("The lease has run out, but a transaction under its fence is open (lease={})", name);
                return Optional.empty();
            }
            throw e;
        }
    }

    private static <T> T inTransaction(EngineConnection open, Duration patience, Work<T> work) throws SQLException {
        return open.inTransaction(one -> {
            SessionSql.begin(one, patience, patience.multipliedBy(4));
            return work.over(one);
        });
    }

    /** A short transaction over a connection that is borrowed for it. */
    <T> T inTransaction(Work<T> work) throws SQLException {
        try (EngineConnection open = EngineConnection.withoutSession(connections, ANSWER)) {
            return inTransaction(open, MOST_PATIENCE, work);
        }
    }

    /** One statement that only reads. */
    <T> T read(Work<T> work) throws SQLException {
        try (Connection connection = connections.get()) {
            return work.over(connection);
        }
    }

    /** How often a lease of this process was released. */
    long releases() {
        lock.lock();
        try {
            return releases;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until it was more often than that, at most so long. */
    void awaitRelease(long seen, long nanos) throws InterruptedException {
        lock.lock();
        try {
            long left = nanos;
            while (releases == seen && left > 0) {
                left = released.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String silence() {
        return keeper.silence();
    }

    @Override
    public void limited() {
        keeper.limited();
    }

    @Override
    public void lost(HeldLease lease, String reason, List<Runnable> calls) {
        keeper.lost(lease, reason, calls);
    }

    @Override
    public void released(HeldLease lease) {
        keeper.forget(lease);
        try {
            inTransaction(one -> sql.release(one, lease.row(), holder, Holding.End.RELEASED));
            lock.lock();
            try {
                releases++;
                released.signalAll();
            } finally {
                lock.unlock();
            }
        } catch (SQLException | RuntimeException e) {
            LOG.info(
                    "A lease could not be given back; it is no longer renewed, and can be taken when its time to live is over"
                            + " (lease={}, token={})",
                    lease.name(),
                    lease.token(),
                    e);
        }
        events.tell(new NamedLeaseReleased(lease.name(), lease.token()));
    }
}
