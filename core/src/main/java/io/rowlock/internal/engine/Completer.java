package io.rowlock.internal.engine;

import io.rowlock.error.RowlockException;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SqlState;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects outcomes for a few milliseconds or a few hundred jobs and has them recorded together. An outcome leaves only
 * when it is recorded or its lease is known to be lost: while the database is away it waits here, its lease kept up by
 * the heartbeat as long as that can.
 */
final class Completer {
    private static final Logger LOG = LoggerFactory.getLogger(Completer.class);
    private static final int MOST = 500;
    private static final int TOO_MANY = 5_000;
    private static final long GATHER = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long IDLE = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LONGEST_FLUSH = TimeUnit.SECONDS.toNanos(30);
    private static final long LOCKED_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Recorder recorder;
    private final KeyRetaker retaker;
    private final HoldLifter holds;
    private final LoopAlarm loops;
    private final LinkedBlockingQueue<Settled> arriving = new LinkedBlockingQueue<>();
    private final AtomicInteger backlog = new AtomicInteger();

    /** Of the completer's thread only: taken but not recorded, and what was locked by others. */
    private List<Settled> batch = new ArrayList<>();

    private final Deque<Later> locked = new ArrayDeque<>();

    private record Later(Settled settled, long notBefore) {}

    Completer(Recorder recorder, KeyRetaker retaker, HoldLifter holds, LoopAlarm loops) {
        this.recorder = recorder;
        this.retaker = retaker;
        this.holds = holds;
        this.loops = loops;
    }

    /** Takes an outcome to record; never blocks. */
    void add(LeasedJob job, Outcome outcome) {
        backlog.incrementAndGet();
        arriving.add(new Settled(job, outcome));
    }

    /** How many outcomes are not recorded yet. */
    int backlog() {
        return backlog.get();
    }

    /** Whether all is recorded, and no ordering key held for what has ended. */
    boolean isIdle() {
        return backlog() == 0 && holds.isIdle();
    }

    /** Whether claiming should wait until more is recorded. */
    boolean full() {
        return backlog.get() > TOO_MANY;
    }

    /** One step of the loop: waits for outcomes, gathers, records; then what follows for dedup and ordering keys. */
    long step() throws SQLException, InterruptedException {
        gather(true);
        record();
        holds.step();
        retaker.step();
        loops.step();
        return 0;
    }

    /** Records all that is here, for the hand-cranked worker. What is locked by others is waited for, half a minute. */
    void flush() throws SQLException, InterruptedException {
        long until = System.nanoTime() + LONGEST_FLUSH;
        gather(false);
        while (backlog() > 0) {
            if (batch.isEmpty()) {
                TimeUnit.NANOSECONDS.sleep(LOCKED_PAUSE);
            } else {
                record();
            }
            if (System.nanoTime() - until > 0) {
                throw new RowlockException("The outcome of a job could not be recorded for half a minute: its row is"
                        + " locked by another transaction, such as one of the test's own; end that one first");
            }
            gather(false);
        }
        holds.flush();
        retaker.flush();
        loops.step();
    }

    private void gather(boolean wait) throws InterruptedException {
        takeLocked();
        if (wait && batch.isEmpty()) {
            add(arriving.poll(IDLE, TimeUnit.NANOSECONDS));
        }
        long until = System.nanoTime() + (wait ? GATHER : 0);
        while (batch.size() < MOST) {
            Settled next = arriving.poll();
            if (next == null && System.nanoTime() < until) {
                next = arriving.poll(until - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
            if (next == null) {
                return;
            }
            add(next);
        }
    }

    private void takeLocked() {
        long now = System.nanoTime();
        while (!locked.isEmpty() && locked.peek().notBefore() - now <= 0 && batch.size() < MOST) {
            batch.add(locked.remove().settled());
        }
    }

    /** Jobs of an ordering key are recorded in their order: none before one that waits for a lock. */
    private void add(@Nullable Settled settled) {
        if (settled == null) {
            return;
        }
        OrderingKey key = settled.job().row().key();
        Later before = key == null ? null : lastLocked(key);
        if (before == null) {
            batch.add(settled);
        } else {
            locked.add(new Later(settled, before.notBefore()));
        }
    }

    private @Nullable Later lastLocked(OrderingKey key) {
        Later last = null;
        for (Later each : locked) {
            last = key.equals(each.settled().job().row().key()) ? each : last;
        }
        return last;
    }

    /** What an exception leaves in the batch is tried again by the next step; written twice, it changes nothing. */
    private void record() throws SQLException {
        if (batch.isEmpty()) {
            return;
        }
        try {
            record(batch);
            batch = new ArrayList<>();
        } catch (SQLException e) {
            int before = batch.size();
            batch.removeIf(settled -> settled.job().isOver());
            backlog.addAndGet(batch.size() - before);
            if (!SqlState.refusesData(e)) {
                throw e;
            }
            LOG.warn(
                    "A batch of outcomes was refused; recording them one by one (jobs={}): {}",
                    batch.size(),
                    e.toString());
            while (!batch.isEmpty()) {
                recordAlone(batch.get(batch.size() - 1));
                batch.remove(batch.size() - 1);
            }
        }
    }

    private void recordAlone(Settled settled) throws SQLException {
        try {
            record(List.of(settled));
        } catch (SQLException e) {
            if (!SqlState.refusesData(e)) {
                throw e;
            }
            LOG.error(
                    "An outcome cannot be recorded; its job runs again after its lease (job={}, kind={})",
                    settled.job().id(),
                    settled.job().kind(),
                    e);
            recorder.forget(settled);
            backlog.decrementAndGet();
        }
    }

    private void record(List<Settled> together) throws SQLException {
        List<Settled> busy = recorder.record(together);
        long notBefore = System.nanoTime() + LOCKED_PAUSE;
        busy.forEach(settled -> locked.add(new Later(settled, notBefore)));
        backlog.addAndGet(busy.size() - together.size());
    }
}
