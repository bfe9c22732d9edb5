package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.saga.internal.engine.Ledger.Answer;
import io.rowlock.saga.internal.engine.Ledger.Entry;
import java.sql.SQLException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scribe who helps where many wait for the first. Its connection is asked for only then, and beside the drivers: a pool that
 * has none to spare keeps nobody waiting, and is asked again later. For many threads.
 */
final class SecondScribe implements AutoCloseable {
    /** Fewer are a small group, and the fewer the groups, the less each record costs. */
    private static final int MANY = 50;

    private static final long AGAIN = TimeUnit.SECONDS.toNanos(30);
    private static final Logger LOG = LoggerFactory.getLogger(SecondScribe.class);

    private final EngineConnection connection;
    private final Turns<Entry, Answer> turns;
    private final Executor threads;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile boolean open;
    private volatile long refusedAt = System.nanoTime() - AGAIN;

    SecondScribe(EngineConnection connection, Turns<Entry, Answer> turns, Executor threads) {
        this.connection = connection;
        this.turns = turns;
        this.threads = threads;
    }

    Turns<Entry, Answer> turns() {
        return turns;
    }

    /** Whether to go to this one, as so many wait for the first. */
    boolean helps(int waiting) {
        if (waiting < MANY) {
            return false;
        }
        if (!open && System.nanoTime() - refusedAt >= AGAIN && asked.compareAndSet(false, true)) {
            threads.execute(this::open);
        }
        return open && turns.waiting() < waiting;
    }

    private void open() {
        try {
            connection.call(connected -> true);
            open = true;
        } catch (SQLException | RuntimeException e) {
            refusedAt = System.nanoTime();
            LOG.debug("There is no second connection for records of sagas; one does", e);
        } finally {
            asked.set(false);
        }
    }

    @Override
    public void close() {
        connection.close();
    }
}
