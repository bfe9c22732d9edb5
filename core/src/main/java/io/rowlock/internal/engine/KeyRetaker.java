package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.internal.sql.RetakeSql.Keyless;
import io.rowlock.internal.sql.RetakeSql.Merged;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives jobs that wait again (retried, snoozed, handed back, rescued) their dedup keys back; where another job waits under
 * the key by now, the two become one.
 */
final class KeyRetaker {
    /*
     * A job is put back first, without its key, as if it had none; the key follows in a short transaction of its own. So
     * an enqueue of the same key that stays uncommitted for hours holds up no outcome and no lease, and nobody but this
     * class meets the unique index. What is lost when the process ends between the two, or a key cannot be had before the
     * job is claimed again: the job waits without its key, and runs beside one that was enqueued meanwhile, as it would
     * had it not been put back. The list here is a hint; what is no longer so is not in the answer of the first query.
     */
    private static final Logger LOG = LoggerFactory.getLogger(KeyRetaker.class);
    private static final Duration WAIT = Duration.ofMillis(10);
    private static final long AGAIN = TimeUnit.SECONDS.toNanos(1);
    private static final long LAST_TRIES = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST = 200;

    private final EngineConnection connection;
    private final RetakeSql sql;
    private final KeySql keys;
    private final Events events;
    private final Queue<Long> arriving = new ConcurrentLinkedQueue<>();
    private final Queue<Later> later = new ConcurrentLinkedQueue<>();

    private record Later(long id, long notBefore) {}

    KeyRetaker(EngineConnection connection, EngineSql sql, Events events) {
        this.connection = connection;
        this.sql = sql.retakes();
        this.keys = sql.keys();
        this.events = events;
    }

    /** Takes a job that waits again; never blocks. */
    void add(long id) {
        arriving.add(id);
    }

    /** A few of them; waits for others' transactions once at most, and not for long. */
    void step() throws SQLException {
        Set<Long> ids = due();
        if (ids.isEmpty()) {
            return;
        }
        try {
            perform(ids);
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                ids.forEach(this::tryAgain);
                throw e;
            }
            LOG.warn("Jobs that were put back wait without their dedup keys (jobs={})", ids, e);
        }
    }

    /** All that are here, each once, for a second at most. */
    void flush() throws SQLException {
        long until = System.nanoTime() + LAST_TRIES;
        while (!later.isEmpty()) {
            arriving.add(later.remove().id());
        }
        while (!arriving.isEmpty() && System.nanoTime() - until < 0) {
            step();
        }
    }

    private Set<Long> due() {
        Set<Long> ids = new TreeSet<>();
        while (ids.size() < MOST && !arriving.isEmpty()) {
            ids.add(arriving.remove());
        }
        long now = System.nanoTime();
        while (ids.size() < MOST && !later.isEmpty() && later.peek().notBefore() - now <= 0) {
            ids.add(later.remove().id());
        }
        return ids;
    }

    private void perform(Set<Long> ids) throws SQLException {
        List<Keyless> free = new ArrayList<>();
        for (Keyless job : connection.call(open -> sql.keyless(open, ids))) {
            if (job.taken()) {
                merge(job);
            } else {
                free.add(job);
            }
        }
        if (!free.isEmpty() && !retake(free)) {
            oneByOne(free);
        }
    }

    /** False if one of them has to be waited for, or merged: then none has its key. */
    private boolean retake(List<Keyless> jobs) throws SQLException {
        try {
            Set<Long> taken = connection.inTransaction(open -> sql.retake(open, jobs, WAIT));
            jobs.stream().map(Keyless::id).filter(id -> !taken.contains(id)).forEach(this::tryAgain);
            return true;
        } catch (SQLException e) {
            if (SqlState.duplicateKey(e) || SqlState.lockTimeout(e)) {
                return false;
            }
            throw e;
        }
    }

    /** Until one has to be waited for: the rest has its turn in the next step. */
    private void oneByOne(List<Keyless> jobs) throws SQLException {
        List<Keyless> left = new ArrayList<>(jobs);
        boolean waited = false;
        while (!left.isEmpty() && !waited) {
            Keyless job = left.remove(0);
            if (!retake(List.of(job))) {
                tryAgain(job.id());
                waited = true;
            }
        }
        left.forEach(job -> arriving.add(job.id()));
    }

    private void merge(Keyless job) throws SQLException {
        Optional<Merged> merged;
        try {
            merged = connection.inTransaction(open -> mergeUnderLock(open, job));
        } catch (SQLException e) {
            if (!SqlState.duplicateKey(e) && !SqlState.lockTimeout(e)) {
                throw e;
            }
            merged = Optional.empty();
        }
        if (merged.isEmpty()) {
            tryAgain(job.id());
            return;
        }
        long from = merged.get().id();
        long into = merged.get().into();
        LOG.debug("A job was merged into the one that waits under its key (job={}, into={})", from, into);
        events.tell(new JobMerged(from, job.queue(), job.kind(), into));
    }

    /** Whichever of the two is cancelled, it may have been the head of its ordering key. */
    private Optional<Merged> mergeUnderLock(Connection open, Keyless job) throws SQLException {
        OrderingKey order = job.order();
        if (order == null) {
            return sql.merge(open, job);
        }
        if (keys.lock(open, List.of(order)).isEmpty()) {
            return Optional.empty();
        }
        SessionSql.boundLockWaits(open, WAIT);
        Optional<Merged> merged = sql.merge(open, job);
        keys.settle(open, List.of(order));
        return merged;
    }

    private void tryAgain(long id) {
        later.add(new Later(id, System.nanoTime() + AGAIN));
    }
}
