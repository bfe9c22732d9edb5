package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.internal.sql.NotifySql;
import io.rowlock.internal.sql.NotifySql.Session;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of commits in other processes, on the heartbeat's thread and connection in the time between two beats: so a worker
 * needs no connection more, and the one that must not be late is never used by anything that waits for a lock.
 */
final class Listener {
    /*
     * - A beat comes first, and at its time: listening ends when one is due. Nothing that is wrong with listening is an
     *   error of the heartbeat; it is told, and tried again later or given up.
     * - A session listens, not a process. Whoever gets a new connection listens anew, and then looks once: what was told
     *   before is not told again.
     * - A connection whose other end is gone is silent as one on which nothing happens. So every few seconds the server
     *   is asked; the same answer shows a pooler that gives each statement another session, which hears nothing.
     */
    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);

    /** So that a stop waits no longer; a chunk costs no statement. */
    private static final long CHUNK = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long CHECK_EVERY = TimeUnit.SECONDS.toNanos(10);
    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);
    private static final long LOG_EVERY = TimeUnit.MINUTES.toNanos(1);
    private static final Note MISSED = new Note("", List.of(), true, null);

    private final EngineConnection connection;
    private final NotifySql sql;
    private final String self;
    private final String worker;
    private final Events events;
    private final Consumer<Note> told;

    private @Nullable Listening listening;
    private @Nullable Connection listenedOn;
    private boolean useless;
    private int failures;
    private long loggedAt;
    private long nextBeat = System.nanoTime();
    private long nextTry = nextBeat;
    private long nextCheck;

    /** The connection on which LISTEN was sent, and the server process that took it. */
    private record Listening(Connection connection, int backend, PgDriver notifications) {}

    Listener(EngineConnection connection, Notifier notifier, String worker, Events events, Consumer<Note> told) {
        this.connection = connection;
        this.sql = notifier.sql();
        this.self = notifier.id();
        this.worker = worker;
        this.events = events;
        this.told = told;
        connection.onGivingBack(this::stopListening);
    }

    /** What is done at its time, whatever is heard. */
    @FunctionalInterface
    interface Beat {
        /** Gives for how many nanoseconds none is needed. */
        long run() throws SQLException;
    }

    /** Beats if it is time, listens for a while if not; gives how long to pause. */
    long between(Beat beat) throws SQLException {
        if (System.nanoTime() - nextBeat >= 0) {
            nextBeat = System.nanoTime() + beat.run();
        }
        long now = System.nanoTime();
        long left = Math.max(0, nextBeat - now);
        if (left == 0 || useless) {
            return left;
        }
        if (nextTry - now > 0) {
            return Math.min(left, nextTry - now);
        }
        return listen(Math.min(left, CHUNK));
    }

    private long listen(long nanos) {
        try {
            boolean fresh = connection.call(this::attend);
            if (fresh) {
                told.accept(MISSED);
            }
            Listening now = listening;
            if (now != null) {
                int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
                connection
                        .call(open ->
                                open == now.connection() ? now.notifications().await(millis) : List.<String>of())
                        .forEach(this::read);
                failures = 0;
            }
        } catch (SQLException | RuntimeException e) {
            failed(e);
        }
        return 0;
    }

    private void read(String text) {
        Note.read(text).filter(note -> !note.from().equals(self)).ifPresent(told);
    }

    /** Sees to it that this session listens; true if it has not before. */
    private boolean attend(Connection open) throws SQLException {
        Listening known = listening;
        if (known == null || known.connection() != open) {
            listening = null;
            listenAnew(open);
            return listening != null;
        }
        if (System.nanoTime() - nextCheck >= 0) {
            check(known);
        }
        return false;
    }

    private void listenAnew(Connection open) throws SQLException {
        Optional<PgDriver> notifications = PgDriver.of(open);
        if (notifications.isEmpty()) {
            giveUp("the connections cannot be unwrapped to org.postgresql.PGConnection");
            return;
        }
        listenedOn = open;
        sql.listen(open);
        check(new Listening(open, sql.session(open).backend(), notifications.get()));
    }

    private void check(Listening now) throws SQLException {
        Session session = sql.session(now.connection());
        if (session.listening() && session.backend() == now.backend()) {
            listening = now;
            nextCheck = System.nanoTime() + CHECK_EVERY;
        } else {
            listening = null;
            giveUp("statements of one connection reach several sessions, as with PgBouncer in transaction mode");
            stopListening(now.connection());
        }
    }

    /** A pool may hand the connection to somebody else: it must hear nothing any more. */
    private void stopListening(Connection open) throws SQLException {
        if (listenedOn == open) {
            listenedOn = null;
            sql.unlisten(open);
        }
    }

    private void giveUp(String why) {
        useless = true;
        LOG.warn("This worker cannot hear of commits in other processes, and polls: {} (worker={})", why, worker);
        events.tell(new LoopFailed(worker, "listener", 1, new SQLFeatureNotSupportedException(why)));
    }

    private void failed(Exception thrown) {
        long now = System.nanoTime();
        nextTry = now + Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(failures++, 10));
        if (failures == 1 || now - loggedAt > LOG_EVERY) {
            loggedAt = now;
            Described.quietly(() -> LOG.warn(
                    "This worker does not hear of commits in other processes at present; it polls, and tries again"
                            + " (worker={}): {}",
                    worker,
                    Described.text(thrown)));
        }
        events.tell(new LoopFailed(worker, "listener", failures, thrown));
    }
}
