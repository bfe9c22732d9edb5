package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.checkup.PoolerCheck;
import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.sql.AdvisoryLockSql;
import io.rowlock.internal.sql.BrokenConnection;
import io.rowlock.internal.sql.PoolerSql;
import io.rowlock.lease.AdvisoryLeader.Writing;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/*
 * It never becomes another session: what an answer is worth, or a lock, ends with it. One thread uses it at a time; whoever closes
 * it while another does leaves that to him. Whoever looks cannot wait for a transaction that runs as long as its work does, and
 * asks beside it, which server process has the lock (a process id that is given out again would have to get the lock too).
 * Pause, turn, opening and answer of a look together are less than AdvisoryLeader.NOTICED_WITHIN.
 */
/** One session of the server, with a leader's lock or without, from its opening to its end. */
final class LeaderSession {
    static final Duration ANSWER = Duration.ofSeconds(2);
    private static final Duration BESIDE = Duration.ofSeconds(1);
    private static final long TURN = TimeUnit.MILLISECONDS.toNanos(500);

    private final Place place;
    private final Connection connection;
    private final int networkTimeout;
    private final int backend;
    private final ReentrantLock use = new ReentrantLock(true); // fair: a look gets its turn
    private volatile long answeredAt = System.nanoTime();
    private volatile boolean closed;
    private volatile boolean ended; // written by who uses it

    /** Where sessions come from, and which lock they are for. */
    record Place(PromptConnections connections, AdvisoryLockSql sql, String name, long key) {}

    private LeaderSession(Place place, Connection connection, int networkTimeout, int backend) {
        this.place = place;
        this.connection = connection;
        this.networkTimeout = networkTimeout;
        this.backend = backend;
    }

    /** Opens one, if it is one of its own. */
    static LeaderSession open(Place place) throws SQLException {
        Connection connection = place.connections().get();
        try {
            connection.setAutoCommit(true);
            int networkTimeout = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, millis(ANSWER));
            refusePooler(connection, place);
            return new LeaderSession(place, connection, networkTimeout, PoolerSql.backend(connection));
        } catch (SQLException | RuntimeException | Error e) {
            BrokenConnection.drop(connection);
            throw e;
        }
    }

    private static int millis(Duration duration) {
        return Math.toIntExact(duration.toMillis());
    }

    private static void refusePooler(Connection connection, Place place) throws SQLException {
        Optional<String> seen;
        try {
            seen = new PoolerCheck(place.connections()).seen(connection);
        } catch (SQLException e) {
            throw new SQLException(
                    "whether a pooler in transaction mode is in between could not be seen, which takes a second connection"
                            + " beside the first for a moment: " + e.getMessage(),
                    e.getSQLState(),
                    e);
        }
        if (seen.isPresent()) {
            throw new InvalidUseException("An advisory lock needs a session of its own. " + seen.get()
                    + ". Give this leader connections that lead to the server directly, advisoryLeader(name, connections),"
                    + " or use leader(), whose lease rows work through a pooler (leader=" + place.name() + ')');
        }
    }

    /** Whether the calling thread is in a transaction of it. */
    boolean isMine() {
        return use.isHeldByCurrentThread();
    }

    /** Whether it has the lock; waits for its turn. An error ends the session, for nobody knows then. */
    boolean hasLock() throws SQLException {
        use.lock();
        try {
            return ask(open -> place.sql().held(open, place.key()));
        } finally {
            leave();
        }
    }

    /** Gets the lock, or has it. */
    boolean tryLock() throws SQLException {
        use.lock();
        try {
            return ask(
                    open -> place.sql().held(open, place.key()) || place.sql().tryLock(open, place.key()));
        } finally {
            leave();
        }
    }

    /** Whether it has the lock, without waiting for a transaction that goes on over it. */
    boolean isSeenWithLock() throws SQLException, InterruptedException {
        if (use.tryLock(TURN, TimeUnit.NANOSECONDS)) {
            try {
                return ask(open -> place.sql().held(open, place.key()));
            } finally {
                leave();
            }
        }
        try (EngineConnection beside =
                EngineConnection.withoutSession(place.connections().within(BESIDE), BESIDE)) {
            return beside.call(open -> place.sql().heldBy(open, place.key(), backend));
        }
    }

    /**
     * Writes over it in a transaction, if it has the lock; waits for its turn.
     *
     * @return false if it has not; nothing is done then
     * @throws Exception what the work threw; ours are RowlockExceptions
     */
    boolean write(Writing writing) throws Exception {
        if (isMine()) {
            throw new InvalidUseException(
                    "This thread is writing over the leader's session already; write over the session it was given");
        }
        use.lock();
        try {
            if (!isLockThere()) {
                return false;
            }
            new LeaderTransaction(connection, millis(ANSWER)).run(writing);
            return true;
        } finally {
            ended |= isGone();
            leave();
        }
    }

    private boolean isLockThere() {
        try {
            return ask(open -> place.sql().held(open, place.key()));
        } catch (SQLException e) {
            throw new DatabaseException("The leader's session did not answer; nothing was written over it", e);
        }
    }

    private boolean ask(EngineConnection.Work<Boolean> question) throws SQLException {
        if (ended || closed) {
            throw new SQLException("The session has ended", "08003");
        }
        try {
            boolean answer = question.over(connection);
            answeredAt = System.nanoTime();
            return answer;
        } catch (SQLException | RuntimeException | Error e) {
            ended = true;
            BrokenConnection.drop(connection);
            throw e;
        }
    }

    /** How long ago it last answered. */
    long silence() {
        return System.nanoTime() - answeredAt;
    }

    private boolean isGone() {
        try {
            return connection.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    /** Whether it is of no use any more. */
    boolean hasEnded() {
        return ended || isGone();
    }

    private void leave() {
        use.unlock();
        if (closed) {
            close();
        }
    }

    /** Whoever uses it is cut off: it has no lock any more. */
    void cut() {
        try {
            if (!ended) {
                connection.abort(Runnable::run);
            }
        } catch (SQLException | RuntimeException e) {
            // nothing is left to cut
        }
    }

    /** Gives it back without the lock: at once, or, if whoever uses it does not end in a moment, when he does. Throws nothing. */
    void close() {
        closed = true;
        if (!isMine() && isFree()) {
            try {
                end();
            } finally {
                use.unlock();
            }
        }
    }

    private boolean isFree() {
        try {
            return use.tryLock() || use.tryLock(TURN, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void end() {
        if (ended) {
            return;
        }
        ended = true;
        try (Connection last = connection) {
            while (place.sql().held(last, place.key())) {
                place.sql().unlock(last, place.key());
            }
            last.setNetworkTimeout(Runnable::run, networkTimeout);
        } catch (SQLException | RuntimeException e) {
            BrokenConnection.drop(connection);
        }
    }
}
