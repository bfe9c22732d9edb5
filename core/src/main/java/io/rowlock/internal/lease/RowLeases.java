package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.internal.engine.Events;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.LeaseSql;
import io.rowlock.internal.sql.LeaseSql.Held;
import io.rowlock.internal.sql.LeaseSql.LeaseRow;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.By;
import io.rowlock.lease.Fence;
import io.rowlock.lease.Holding;
import io.rowlock.lease.Lease;
import io.rowlock.lease.LeaseView;
import io.rowlock.lease.Leases;
import io.rowlock.lease.LeasesHealth;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Leases as rows: taken, looked up, revoked; and whatever of this process works under one. */
public final class RowLeases implements Leases {
    private static final Logger LOG = LoggerFactory.getLogger(RowLeases.class);
    static final long BETWEEN_TRIES = TimeUnit.SECONDS.toNanos(1);

    private final LeaseSql sql;
    private final AccessPolicy policy;
    private final Contenders contenders;
    private final LeaseTaker taker;

    /**
     * Sends no SQL, and has no thread before the first lease.
     *
     * @param policy asked before a person takes a lease away
     */
    public RowLeases(Names names, ConnectionSource connections, AccessPolicy policy, Events events) {
        this.policy = policy;
        this.sql = new LeaseSql(names);
        this.taker = new LeaseTaker(connections, sql, events, incarnation());
        this.contenders = new Contenders(taker, connections, new AlertSql(names), events);
    }

    /** Fresh with each start, so that a namesake keeps nothing of a dead one alive (case B37). */
    private static String incarnation() {
        String host = Optional.ofNullable(System.getenv("HOSTNAME"))
                .map(name -> name.replaceAll("[^A-Za-z0-9._-]", ""))
                .filter(name -> !name.isEmpty())
                .orElse("process");
        return host.substring(0, Math.min(host.length(), 100))
                + '-'
                + ProcessHandle.current().pid()
                + '-'
                + UUID.randomUUID().toString().substring(0, 13);
    }

    /** What tries again and again to get leases, and works under them. */
    public Contenders contenders() {
        return contenders;
    }

    @Override
    public Optional<Lease> tryTake(String name, Duration timeToLive) {
        LeaseChecks.name(name);
        LeaseChecks.timeToLive(timeToLive);
        try {
            return taker.tryTake(name, timeToLive).map(lease -> lease);
        } catch (SQLException e) {
            throw new DatabaseException("The lease " + name + " could not be taken; try again", e);
        }
    }

    @Override
    public Optional<Lease> take(String name, Duration timeToLive, Duration atMost) throws InterruptedException {
        LeaseChecks.timeToLive(timeToLive);
        long until =
                System.nanoTime() + LeaseChecks.notNegative("atMost", atMost).toNanos();
        long pause = Math.min(BETWEEN_TRIES, timeToLive.toNanos() / 3);
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            long releases = taker.releases();
            Optional<Lease> lease = tryTake(name, timeToLive);
            long left = until - System.nanoTime();
            if (lease.isPresent() || left <= 0) {
                return lease;
            }
            taker.awaitRelease(releases, Math.min(left, pause));
        }
    }

    @Override
    public Fence fence(String name, long token) {
        return new RowFence(sql, new Held(LeaseChecks.name(name), token));
    }

    @Override
    public Optional<LeaseView> find(String name) {
        LeaseChecks.name(name);
        return read(() -> taker.read(open -> sql.find(open, name))).map(RowLeases::view);
    }

    @Override
    public List<LeaseView> all(String after, int most) {
        LeaseChecks.present("after", after);
        LeaseChecks.page(most);
        return read(() -> taker.read(open -> sql.page(open, after, most))).stream()
                .map(RowLeases::view)
                .toList();
    }

    static LeaseView view(LeaseRow row) {
        return new LeaseView(row.name(), row.token(), row.holder(), row.takenAt(), row.expiresAt());
    }

    @Override
    public List<Holding> history(String name, int most) {
        LeaseChecks.name(name);
        LeaseChecks.page(most);
        return read(() -> taker.read(open -> sql.history(open, name, most))).stream()
                .map(row -> new Holding(
                        row.token(),
                        row.holder(),
                        row.takenAt(),
                        row.endedAt(),
                        row.ended() == null
                                ? null
                                : Holding.End.valueOf(row.ended().toUpperCase(Locale.ROOT))))
                .toList();
    }

    @FunctionalInterface
    private interface Read<T> {
        T read() throws SQLException;
    }

    private static <T> T read(Read<T> read) {
        try {
            return read.read();
        } catch (SQLException e) {
            throw new DatabaseException("Leases could not be looked up", e);
        }
    }

    @Override
    public boolean revoke(String name, By by) {
        LeaseChecks.name(name);
        LeaseChecks.present("Say who does it, and why: by", by);
        Leave.require(policy, Access.of(Action.REVOKE, Target.LEASE, by, name));
        try {
            boolean revoked = taker.inTransaction(open -> sql.revoke(open, name, by.who(), by.why()));
            LOG.info("Revocation of a lease: {} (lease={}, by={}): {}", revoked, name, by.who(), by.why());
            return revoked;
        } catch (SQLException e) {
            throw new DatabaseException("The lease " + name + " could not be revoked; try again", e);
        }
    }

    @Override
    public LeasesHealth health() {
        List<FailingLoop> loops = new ArrayList<>(taker.keeper.failing());
        loops.addAll(contenders.failing());
        return new LeasesHealth(taker.keeper.held().size(), loops);
    }

    @Override
    public boolean stop(Duration grace) {
        LeaseChecks.notNegative("grace", grace);
        boolean ended = contenders.stop(grace);
        taker.keeper.held().stream()
                .filter(lease -> !contenders.isWorking(lease))
                .forEach(HeldLease::release);
        taker.keeper.stop();
        return ended;
    }
}
