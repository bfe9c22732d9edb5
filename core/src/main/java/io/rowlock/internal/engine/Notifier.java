package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.NotificationFailed;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.NotifySql;
import io.rowlock.job.Enqueued;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.EarliestByLane;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells other processes of commits in this one, see {@link Note}. Whoever commits only puts down where there is work;
 * a thread of its own, on a connection of its own, sends it: one statement at a time, and all that came meanwhile in the
 * next. Thread and connection are there from the first commit until a second after the last. What cannot be sent is
 * dropped, for the others poll.
 */
public final class Notifier {
    private static final Logger LOG = LoggerFactory.getLogger(Notifier.class);
    private static final Duration ANSWER = Duration.ofSeconds(10);
    private static final long LINGER = TimeUnit.SECONDS.toNanos(1);
    private static final long LOG_EVERY = TimeUnit.MINUTES.toNanos(1);

    /** Between two statements, so that many commits do not wake all others for each of them. */
    private static final long GAP = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long GAP_AFTER_FAILURE = TimeUnit.SECONDS.toNanos(1);

    /** More would not fit into one text. */
    private static final int MOST_LANES = 200;

    private final ConnectionSource source;
    private final NotifySql sql;
    private final Events events;
    private final String id = UUID.randomUUID().toString();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition told = lock.newCondition();
    private final EarliestByLane lanes = new EarliestByLane();
    private boolean everywhere;
    private @Nullable Instant since;
    private boolean running;
    private volatile long loggedAt;

    public Notifier(ConnectionSource source, Names names, Events events) {
        this.source = source;
        this.sql = new NotifySql(names);
        this.events = events;
    }

    NotifySql sql() {
        return sql;
    }

    /** Who sends. */
    String id() {
        return id;
    }

    /** Jobs have committed in this JVM; none: some may have become due, nobody says which. Never blocks, never throws. */
    public void tell(Collection<Enqueued> committed) {
        lock.lock();
        try {
            lanes.add(committed);
            everywhere |= committed.isEmpty();
            if (lanes.lanes() > MOST_LANES) {
                since = take().withoutLanes().since();
                everywhere = true;
            }
            if (running) {
                told.signal();
            } else {
                start();
            }
        } finally {
            lock.unlock();
        }
    }

    private Note take() {
        Note note = new Note(id, lanes.take(), everywhere, since);
        everywhere = false;
        since = null;
        return note;
    }

    /** Without what a thread inherits: whoever commits now is not who commits next. */
    private void start() {
        try {
            Thread thread = new Thread(null, this::run, "rowlock-notifier", 0, false);
            thread.setDaemon(true);
            thread.start();
            running = true;
        } catch (RuntimeException | Error e) { // an Error when no thread can be had
            take();
            failed(e);
        }
    }

    private void run() {
        try (EngineConnection connection = new EngineConnection(source, ANSWER)) {
            for (Note note = next(); note != null; note = next()) {
                LockSupport.parkNanos(send(connection, note) ? GAP : GAP_AFTER_FAILURE);
            }
        }
    }

    /** What is to be said, or null when nothing was for a while: then the thread ends, and the next commit starts another. */
    private @Nullable Note next() {
        lock.lock();
        try {
            long left = LINGER;
            while (lanes.lanes() == 0 && !everywhere && left > 0) {
                left = told.awaitNanos(left);
            }
            running = lanes.lanes() > 0 || everywhere;
            return running ? take() : null;
        } catch (InterruptedException e) {
            running = false;
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** True if sent. Nothing may end the thread while others count on it (promise P10). */
    private boolean send(EngineConnection connection, Note note) {
        try {
            connection.call(open -> {
                sql.send(open, note.text());
                return true;
            });
            return true;
        } catch (SQLException | RuntimeException | Error e) {
            failed(e);
            return false;
        }
    }

    private void failed(Throwable thrown) {
        Described.quietly(() -> {
            long now = System.nanoTime();
            if (loggedAt == 0 || now - loggedAt > LOG_EVERY) {
                loggedAt = now;
                LOG.warn(
                        "Other processes could not be told of a commit; they find the jobs at their next poll"
                                + " (channel={}): {}",
                        sql.channel(),
                        Described.text(thrown));
            }
        });
        events.tell(new NotificationFailed(thrown));
    }
}
