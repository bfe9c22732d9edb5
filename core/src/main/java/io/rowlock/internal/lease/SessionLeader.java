package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.internal.checkup.PoolerCheck;
import io.rowlock.internal.engine.Described;
import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.engine.Loop;
import io.rowlock.internal.sql.AdvisoryLockSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.lease.AdvisoryLeader;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The lock is the session's. EngineConnection opens another session by itself when the last one broke, and that has no lock:
 * so whoever asks, asks whether THIS session has it, and never takes an answer for granted. All use of the session is under
 * the connection's own lock. While a transaction of withLeaderSession runs nobody looks, and nobody needs to: it dies with the lock.
 */
/** Leads by an advisory lock on a session that it keeps. */
final class SessionLeader implements AdvisoryLeader, Contender {
    private static final Logger LOG = LoggerFactory.getLogger(SessionLeader.class);
    private static final Duration ANSWER = Duration.ofSeconds(2);
    private static final long BETWEEN_LOOKS = TimeUnit.SECONDS.toNanos(1);
    private static final long IDLE = TimeUnit.MINUTES.toNanos(1);
    private static final Duration LONGEST_WRITE = Duration.ofMinutes(1);

    private final Contenders contenders;
    private final ConnectionSource connections;
    private final AdvisoryLockSql sql;
    private final String name;
    private final long key;
    private final List<Runnable> calls = new CopyOnWriteArrayList<>();
    private final List<Thread> working = new CopyOnWriteArrayList<>(); // one entry for each unit of work

    private EngineConnection session;
    private volatile @Nullable Loop watch;
    private @Nullable Connection checked;
    private volatile boolean leading;
    private volatile boolean kept;
    private volatile @Nullable FailingLoop failing;
    private long ended; // sessions, under the lock of working

    SessionLeader(Contenders contenders, Names names, ConnectionSource connections, String name) {
        this.contenders = contenders;
        this.connections = new PromptConnections(connections, ANSWER);
        this.sql = new AdvisoryLockSql(names);
        this.name = name;
        this.key = key(names.schema() + '.' + names.prefix() + "leader:" + name);
        this.session = open();
    }

    private static long key(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }

    private EngineConnection open() {
        EngineConnection opened = EngineConnection.withoutSession(connections, ANSWER);
        opened.onGivingBack(connection -> {
            if (sql.held(connection, key)) {
                sql.unlock(connection, key);
            }
        });
        return opened;
    }

    @Override
    public long key() {
        return key;
    }

    @Override
    public boolean tryAcquire() {
        kept = lead();
        return kept;
    }

    private synchronized boolean lead() {
        boolean before = leading;
        try {
            boolean again = session.call(this::acquire);
            if (before && !again) {
                lost("its session had the lock no more");
            }
            leading = again;
            failing = null; // whoever leads, the session can say so
        } catch (SQLException e) {
            if (before) {
                lost("its session did not answer: " + e.getMessage());
            }
            failed("its session did not answer: " + e.getMessage());
            throw new DatabaseException(
                    "Whether " + name + " is led by this process could not be found out; it does not lead", e);
        }
        if (leading && watch == null) {
            contenders.add(this);
            Loop begun = new Loop(loopName(), contenders.taker.holder, contenders.events, this::look);
            begun.start();
            watch = begun;
        }
        return leading;
    }

    private boolean acquire(Connection connection) throws SQLException {
        if (connection == checked && sql.held(connection, key)) {
            return true;
        }
        if (leading) {
            lost("its session is gone");
        }
        if (connection != checked) {
            refusePooler(connection);
            checked = connection;
        }
        return sql.tryLock(connection, key);
    }

    private void refusePooler(Connection connection) throws SQLException {
        Optional<String> seen = new PoolerCheck(connections).seen(connection);
        if (seen.isPresent()) {
            throw new InvalidUseException("An advisory lock needs a session of its own. " + seen.get()
                    + ". Give this leader connections that lead to the server directly, advisoryLeader(name, connections),"
                    + " or use leader(), whose lease rows work through a pooler (leader=" + name + ')');
        }
    }

    /** A step of the watching thread. */
    private long look() {
        EngineConnection asked = current();
        if (!leading) {
            return IDLE;
        }
        try {
            boolean held = asked.call(connection -> connection == checked && sql.held(connection, key));
            if (!held && asked == current()) {
                lost("its session had the lock no more");
            }
        } catch (SQLException | RuntimeException e) {
            if (asked == current()) {
                lost("its session did not answer: " + Described.text(e));
            }
        }
        return BETWEEN_LOOKS;
    }

    private synchronized EngineConnection current() {
        return session;
    }

    private void lost(String reason) {
        if (!stopLeading()) {
            return;
        }
        failed(reason);
        Described.quietly(
                () -> LOG.warn("A leader has lost its session; another may lead (leader={}): {}", name, reason));
        if (!calls.isEmpty()) {
            Keeper.callApart(name, List.copyOf(calls));
        }
        contenders.events.tell(new LeaderSessionLost(name, reason));
    }

    private void failed(String reason) {
        FailingLoop last = failing;
        failing = new FailingLoop(loopName(), last == null ? 1 : last.failures() + 1, reason);
    }

    private String loopName() {
        return "leader-session-" + name;
    }

    @Override
    public boolean leads() {
        return leading;
    }

    @Override
    public boolean withLeaderLock(Work work) throws Exception {
        LeaseChecks.present("The work of a leader", work);
        Done done = whileLeading(() -> {
            work.run();
            return true;
        });
        if (done.done() && !done.led()) {
            throw new LeaseLostException(
                    "The leader's session was lost or released while the work ran; another may have led meanwhile",
                    name,
                    0);
        }
        return done.done();
    }

    @Override
    public boolean withLeaderSession(Writing writing) throws Exception {
        LeaseChecks.present("What a leader writes", writing);
        Done done = whileLeading(() -> {
            Written written = write(writing);
            if (written.failure() != null) {
                throw written.failure();
            }
            return written.led();
        }); // committed is committed, whatever came later
        return done.done();
    }

    /** Whether it was done, and whether this process led all the time. */
    private record Done(boolean done, boolean led) {}

    /** Does it if this process leads; lets others lead afterwards, unless it is to go on or another thread works. */
    private Done whileLeading(Callable<Boolean> work) throws Exception {
        long before = begin();
        if (before < 0) {
            return new Done(false, false);
        }
        boolean done;
        boolean led;
        try {
            done = work.call();
        } finally {
            led = end(before);
        }
        return new Done(done, led);
    }

    /** Gives how many sessions have ended before; -1: it does not lead. In one step, so that nobody gives the lock back meanwhile. */
    private synchronized long begin() {
        boolean begun = false;
        try {
            while (lead()) {
                synchronized (working) {
                    if (leading) {
                        working.add(Thread.currentThread());
                        begun = true;
                        return ended;
                    }
                }
            }
            return -1;
        } finally {
            if (!begun) {
                letOthersLead();
            }
        }
    }

    /** Whether it led all the time. An interrupt that came from here goes no further. */
    private synchronized boolean end(long before) {
        boolean led;
        synchronized (working) {
            working.remove(Thread.currentThread());
            led = ended == before;
            if (!led) {
                Thread.interrupted(); // ours
            }
        }
        letOthersLead();
        return led;
    }

    /** And gives the session back, also where it is another who leads. */
    private void letOthersLead() {
        if (!kept && working.isEmpty()) {
            release();
        }
    }

    /** False if it did not lead. Whoever works hears of it. */
    private boolean stopLeading() {
        synchronized (working) {
            boolean led = leading;
            if (led) {
                leading = false;
                ended++;
                working.forEach(Thread::interrupt);
            }
            return led;
        }
    }

    private Written write(Writing writing) {
        try {
            return current().call(connection -> write(connection, writing));
        } catch (SQLException e) {
            lost("its session broke in a transaction: " + e.getMessage());
            throw new DatabaseException("What the leader wrote could not be committed over its session", e);
        }
    }

    private record Written(boolean led, @Nullable Exception failure) {}

    /** What the work throws rolls back, and leaves the session as it is, with its lock. */
    private Written write(Connection connection, Writing writing) throws SQLException {
        if (connection != checked || !sql.held(connection, key)) {
            return new Written(false, null);
        }
        int networkTimeout = connection.getNetworkTimeout();
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(LONGEST_WRITE.toMillis()));
        connection.setAutoCommit(false);
        try {
            SessionSql.begin(connection, LONGEST_WRITE, LONGEST_WRITE);
            writing.over(connection);
            connection.commit();
            return new Written(true, null);
        } catch (Exception e) {
            if (e instanceof SQLException broken && SqlState.connectionLost(broken)) {
                throw broken;
            }
            connection.rollback();
            return new Written(true, e);
        } finally {
            if (!connection.isClosed()) {
                connection.setAutoCommit(true);
                connection.setNetworkTimeout(Runnable::run, networkTimeout);
            }
        }
    }

    @Override
    public AdvisoryLeader onLost(Runnable call) {
        calls.add(LeaseChecks.present("onLost", call));
        return this;
    }

    @Override
    public synchronized void release() {
        kept = false;
        stopLeading();
        failing = null;
        contenders.remove(this);
        Loop watching = watch;
        if (watching != null) {
            watching.stop();
            watch = null;
        }
        checked = null;
        session.close();
        session = open();
    }

    @Override
    public void ask() {
        // a unit of work that has begun may end
    }

    @Override
    public boolean stop(Duration grace) {
        release();
        return working.isEmpty();
    }

    @Override
    public boolean works(HeldLease lease) {
        return false;
    }

    @Override
    public List<FailingLoop> failing() {
        FailingLoop last = failing;
        Loop loop = watch;
        return last != null
                ? List.of(last)
                : loop == null ? List.of() : loop.failing().stream().toList();
    }
}
