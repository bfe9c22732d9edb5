package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.Blocker;
import io.rowlock.internal.sql.KeySql.Hold;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.spi.DeathHook.DyingJob;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Writes outcomes of jobs with ordering keys: in one transaction under the locks of their keys, which then promotes the
 * next job of each key. A key that somebody else has locked is left for later.
 */
final class KeyedRecorder {
    private final EngineConnection connection;
    private final KeySql keys;
    private final OutcomeWriter writer;
    private final Deaths deaths;
    private final Duration lease;

    KeyedRecorder(EngineConnection connection, KeySql keys, OutcomeWriter writer, Deaths deaths, Duration lease) {
        this.connection = connection;
        this.keys = keys;
        this.writer = writer;
        this.deaths = deaths;
        this.lease = lease;
    }

    /** What was tried, what of it was written, and what must wait as its key is locked. */
    record Written(List<Settled> tried, Set<Long> ids, List<Settled> busy) {}

    /** Writes what it can. */
    Written write(List<Settled> jobs) throws SQLException {
        List<AlertRaised> raised = new ArrayList<>();
        Written written = connection.inTransaction(open -> write(open, jobs, raised));
        deaths.tell(raised);
        if (!written.busy().isEmpty()) {
            connection.call(open -> {
                keys.note(open, keysOf(written.busy()));
                return true;
            });
        }
        return written;
    }

    private Written write(Connection open, List<Settled> jobs, List<AlertRaised> raised) throws SQLException {
        Map<OrderingKey, LockedKey> locked = new TreeMap<>();
        keys.lock(open, keysOf(jobs)).forEach(key -> locked.put(key.key(), key));
        List<Settled> tried = new ArrayList<>();
        List<Settled> busy = new ArrayList<>();
        jobs.forEach(job -> (locked.containsKey(keyOf(job)) ? tried : busy).add(job));
        Set<Long> written = new HashSet<>(writer.writeLiving(open, tried));
        List<Settled> dying = OutcomeWriter.of(tried, Died.class);
        if (!dying.isEmpty()) {
            Set<Long> buried = writer.bury(open, dying);
            written.addAll(buried);
            dying = dying.stream()
                    .filter(each -> buried.contains(each.job().id()))
                    .toList();
            List<Long> blocking = keys.block(
                    open,
                    dying.stream()
                            .map(each -> new Blocker(
                                    Objects.requireNonNull(locked.get(keyOf(each))),
                                    each.job().id()))
                            .toList());
            List<DyingJob> dead = dying.stream().map(OutcomeWriter::dying).collect(Collectors.toList());
            deaths.died(open, dead, blocking, raised);
        }
        hold(open, dying);
        keys.settle(open, locked.keySet());
        return new Written(tried, written, busy);
    }

    /** After a timeout the thread may still run: no run of the key begins before it has ended, or its lease would have. */
    private void hold(Connection open, List<Settled> dead) throws SQLException {
        for (Settled each : dead) {
            if (((Died) each.outcome()).timedOut()) {
                keys.hold(
                        open,
                        new Hold(keyOf(each), each.grip().id(), each.grip().token()),
                        lease);
            }
        }
    }

    private static Set<OrderingKey> keysOf(List<Settled> jobs) {
        return jobs.stream().map(KeyedRecorder::keyOf).collect(Collectors.toCollection(TreeSet::new));
    }

    private static OrderingKey keyOf(Settled settled) {
        return Objects.requireNonNull(settled.job().row().key());
    }
}
