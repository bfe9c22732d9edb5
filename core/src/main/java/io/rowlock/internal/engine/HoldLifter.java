package io.rowlock.internal.engine;

import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.Hold;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets an ordering key go on whose job was taken from this worker by a cancel or a timeout, once nothing of the job's run
 * is at work here any more.
 */
final class HoldLifter {
    /*
     * Whoever takes a job away while its handler may run holds its key until the lease would have ended, in the same
     * transaction. Only this process knows better: when it has learnt that the job is gone, and the run has ended, in
     * whichever order. Learnt means that the taker has committed, so that the hold can be seen. Of a run with several jobs
     * gone the key is held for the one taken last, and each looks for its own hold, so that the last one finds it.
     * A hold is found by job and token: one of another claim, here or elsewhere, is left alone, however late this comes.
     * The list here is a hint. What is lost with the process, or cannot be written, is over when the lease would have
     * been; the sweep of stranded keys finds the key then.
     */
    private static final Logger LOG = LoggerFactory.getLogger(HoldLifter.class);
    private static final long LOCKED_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LAST_TRIES = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST = 200;

    private final EngineConnection connection;
    private final KeySql keys;
    private final Runnable lifted;
    private final Queue<Later> waiting = new ConcurrentLinkedQueue<>();

    private record Later(Hold hold, long notBefore) {}

    /** @param lifted called when the next jobs of some keys may begin */
    HoldLifter(EngineConnection connection, EngineSql sql, Runnable lifted) {
        this.connection = connection;
        this.keys = sql.keys();
        this.lifted = lifted;
    }

    /** A run's thread has ended, or it was handed back before it began; never blocks. */
    void ended(Run run) {
        for (LeasedJob job : run.jobs()) {
            job.runEnded();
            letGo(job);
        }
    }

    /** A job's lease is over; never blocks. */
    void letGo(LeasedJob job) {
        OrderingKey key = job.row().key();
        if (key != null && job.isTaken() && job.isRunEnded()) {
            add(new Hold(key, job.grip().id(), job.grip().token()), 0);
        }
    }

    /** Whether nothing is left to lift. */
    boolean isIdle() {
        return waiting.isEmpty();
    }

    /** Lifts what it can; never waits for a lock. */
    void step() throws SQLException {
        List<Hold> due = due();
        if (due.isEmpty()) {
            return;
        }
        try {
            lift(due);
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                due.forEach(hold -> add(hold, 0));
                throw e;
            }
            LOG.warn("Ordering keys stay held until the leases of jobs that were taken away end (jobs={})", due, e);
        }
    }

    /** All that are here, for a second at most. */
    void flush() throws SQLException, InterruptedException {
        long until = System.nanoTime() + LAST_TRIES;
        step();
        while (!isIdle() && System.nanoTime() - until < 0) {
            TimeUnit.NANOSECONDS.sleep(LOCKED_PAUSE);
            step();
        }
    }

    private void add(Hold hold, long delay) {
        waiting.add(new Later(hold, System.nanoTime() + delay));
    }

    private List<Hold> due() {
        Set<Hold> due = new LinkedHashSet<>();
        long now = System.nanoTime();
        Later next = waiting.peek();
        while (due.size() < MOST && next != null && next.notBefore() - now <= 0) {
            due.add(waiting.remove().hold());
            next = waiting.peek();
        }
        return List.copyOf(due);
    }

    private void lift(List<Hold> due) throws SQLException {
        Map<OrderingKey, Hold> held = new TreeMap<>();
        connection.call(open -> keys.held(open, due)).forEach(hold -> held.put(hold.key(), hold));
        if (held.isEmpty()) {
            return;
        }
        Set<OrderingKey> free = connection.inTransaction(open -> lift(open, held));
        held.forEach((key, hold) -> {
            if (!free.contains(key)) {
                add(hold, LOCKED_PAUSE);
            }
        });
        if (!free.isEmpty()) {
            lifted.run();
        }
    }

    /** Gives the keys whose rows nobody else had locked. */
    private Set<OrderingKey> lift(Connection open, Map<OrderingKey, Hold> held) throws SQLException {
        List<LockedKey> locked = keys.lock(open, held.keySet());
        List<Hold> theirs = new ArrayList<>();
        Set<OrderingKey> free = new LinkedHashSet<>();
        for (LockedKey key : locked) {
            theirs.add(Objects.requireNonNull(held.get(key.key())));
            free.add(key.key());
        }
        if (!free.isEmpty()) {
            keys.lift(open, locked, theirs);
            keys.settle(open, free);
        }
        return free;
    }
}
