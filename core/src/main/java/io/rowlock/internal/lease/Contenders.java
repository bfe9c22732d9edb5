package io.rowlock.internal.lease;

import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.engine.Events;
import io.rowlock.internal.lease.LeaseMember.Times;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.PartitionSql;
import io.rowlock.lease.AdvisoryLeader;
import io.rowlock.lease.Leader;
import io.rowlock.lease.Partitions;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** All contenders of this process. They share one connection for their tries, which is there as long as there is one of them. */
public final class Contenders {
    private static final Duration ANSWER = Duration.ofSeconds(10);

    final LeaseTaker taker;
    final Events events;
    final PartAbandoner abandoner;
    private final PromptConnections connections;
    private final Set<Contender> all = ConcurrentHashMap.newKeySet();
    private @Nullable EngineConnection shared;

    Contenders(LeaseTaker taker, ConnectionSource connections, AlertSql alerts, Events events) {
        this.taker = taker;
        this.events = events;
        this.abandoner = new PartAbandoner(taker, alerts, events);
        this.connections = new PromptConnections(connections, ANSWER);
    }

    /** Leads by leases with this time to live. */
    public Leader leader(Duration timeToLive) {
        return new LeaseLeader(this, LeaseChecks.timeToLive(timeToLive));
    }

    /** Parts whose leases have this time to live. */
    public Partitions partitions(Names names, Duration timeToLive) {
        return new RowPartitions(
                this, new PartitionSql(names), new Times(LeaseChecks.timeToLive(timeToLive), Partitions.DRAIN_LIMIT));
    }

    /** Leads by an advisory lock over connections that need not be those of the leases. */
    public AdvisoryLeader advisoryLeader(Names names, ConnectionSource direct, String name) {
        return new SessionLeader(
                this,
                names,
                LeaseChecks.present("connections", direct),
                LeaseChecks.name("The name of a leader", name, 200));
    }

    void add(Contender contender) {
        all.add(contender);
    }

    void remove(Contender contender) {
        leave(contender);
        closeIdle();
    }

    /** Sends nothing; to be followed by {@link #closeIdle}. */
    void leave(Contender contender) {
        all.remove(contender);
    }

    /** Gives the shared connection back if nobody needs it. */
    synchronized void closeIdle() {
        if (all.isEmpty() && shared != null) {
            shared.close();
            shared = null;
        }
    }

    /** The connection of the loops. */
    synchronized EngineConnection shared() {
        EngineConnection open = shared;
        if (open == null) {
            open = EngineConnection.withoutSession(connections, ANSWER);
            shared = open;
        }
        return open;
    }

    /** Waits for no fence: who looks again anyway lets the others have the connection. */
    Optional<HeldLease> tryTake(String name, Duration timeToLive) throws SQLException {
        return taker.tryTake(shared(), name, timeToLive);
    }

    List<FailingLoop> failing() {
        return all.stream().flatMap(each -> each.failing().stream()).toList();
    }

    boolean isWorking(HeldLease lease) {
        return all.stream().anyMatch(each -> each.works(lease));
    }

    /** Asks all first, so that they end side by side. */
    boolean stop(Duration grace) {
        long until = System.nanoTime() + grace.toNanos();
        all.forEach(Contender::ask);
        boolean ended = true;
        for (Contender each : all) {
            ended &= each.stop(Duration.ofNanos(Math.max(0, until - System.nanoTime())));
        }
        return ended;
    }
}
