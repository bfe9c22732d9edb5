package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.event.RowlockEvent.LeaderSessionLost;
import io.rowlock.internal.engine.Described;
import io.rowlock.internal.engine.Loop;
import io.rowlock.internal.lease.LeaderSession.Place;
import io.rowlock.internal.sql.AdvisoryLockSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.lease.AdvisoryLeader;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The lock is the session's (LeaderSession), and who needs it is counted (Leadership). Whoever wants to lead asks the session itself,
 * one thread after another; what is known without asking comes from a look each second, which a transaction over the session does not
 * hold up. A session that is gone is lost once, whoever finds out, and never comes back: the next to ask opens another.
 */
/** Leads by an advisory lock on a session that it keeps. */
final class SessionLeader implements AdvisoryLeader, Contender {
    private static final Logger LOG = LoggerFactory.getLogger(SessionLeader.class);
    private static final long BETWEEN_LOOKS = TimeUnit.SECONDS.toNanos(1);
    private static final long LAST_PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final Contenders contenders;
    private final Place place;
    private final String name;
    private final Leadership state;
    private final ReentrantLock asking =
            new ReentrantLock(true); // held over the network; no release, stop or look needs it
    private final List<Runnable> calls = new CopyOnWriteArrayList<>();
    private volatile @Nullable FailingLoop failing;

    SessionLeader(Contenders contenders, Names names, ConnectionSource connections, String name) {
        this.contenders = contenders;
        this.place = new Place(
                new PromptConnections(connections, LeaderSession.ANSWER),
                new AdvisoryLockSql(names),
                name,
                key(names.schema() + '.' + names.prefix() + "leader:" + name));
        this.name = name;
        this.state = new Leadership(contenders, this);
    }

    private static long key(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }

    @Override
    public long key() {
        return place.key();
    }

    @Override
    public boolean leads() {
        return state.isLeading();
    }

    @Override
    public boolean tryAcquire() {
        long asked = state.ask();
        try {
            return lead(asked) && state.keep();
        } finally {
            close(state.answered(true));
        }
    }

    @Override
    public boolean withLeaderLock(Work work) throws Exception {
        LeaseChecks.present("The work of a leader", work);
        LeaderUnit unit = begin();
        if (unit == null) {
            return false;
        }
        try {
            work.run();
        } finally {
            close(state.end(unit));
        }
        if (unit.isLost()) {
            throw new LeaseLostException(
                    "The leader's session was lost while the work ran; another may have led meanwhile", name, 0);
        }
        return true;
    }

    @Override
    public boolean withLeaderSession(Writing writing) throws Exception {
        LeaseChecks.present("What a leader writes", writing);
        LeaderUnit unit = begin();
        if (unit == null) {
            return false;
        }
        try {
            return write(unit.session, writing);
        } finally {
            close(state.end(unit));
        }
    }

    /** What is committed is committed, whatever became of the session since. */
    private boolean write(LeaderSession session, Writing writing) throws Exception {
        boolean written;
        try {
            written = session.write(writing);
        } finally {
            if (session.hasEnded()) {
                lost(session, "it broke in a transaction");
            }
        }
        if (!written) {
            cut(session);
        }
        return written;
    }

    /** A unit of work of this thread, if this process leads or can. */
    private @Nullable LeaderUnit begin() {
        long asked = state.ask();
        try {
            return lead(asked) ? state.begin() : null;
        } finally {
            close(state.answered(false));
        }
    }

    private void close(@Nullable LeaderSession unused) {
        if (unused != null) {
            unused.close();
        }
        contenders.closeIdle();
    }

    private boolean lead(long asked) {
        LeaderSession known = state.session();
        if (known != null && known.isMine()) { // in a transaction of it, which dies with the lock: no need to ask
            return state.isLocked(known) && answered(known, true, asked);
        }
        asking.lock();
        try {
            return over(state.session(), asked) || (state.isAsked(asked) && overAnother(asked));
        } finally {
            asking.unlock();
        }
    }

    /** Over the session that is there, if there is one; false also if it is gone. */
    private boolean over(@Nullable LeaderSession known, long asked) {
        if (known == null) {
            return false;
        }
        try {
            if (!state.isLocked(known)) {
                return answered(known, known.tryLock(), asked);
            }
            if (known.hasLock()) {
                return answered(known, true, asked);
            }
            cut(known);
        } catch (SQLException e) {
            lost(known, "its session did not answer: " + e.getMessage());
        }
        return false;
    }

    /** Over another session, if there is none any more. */
    private boolean overAnother(long asked) {
        if (state.session() != null) {
            return false;
        }
        try {
            LeaderSession opened = LeaderSession.open(place);
            return answered(opened, opened.tryLock(), asked);
        } catch (SQLException e) {
            failed("no session answers: " + e.getMessage());
            throw new DatabaseException(
                    "Whether " + name + " is led by this process could not be found out; it does not lead", e);
        }
    }

    private boolean answered(LeaderSession session, boolean hasLock, long asked) {
        failing = null; // whoever leads, a session can say so
        try {
            return state.leads(session, hasLock, asked, () -> watch(session));
        } catch (RuntimeException | Error noThread) {
            state.lose(session); // nobody would notice its end
            throw noThread;
        } finally {
            if (state.session() != session) {
                session.close();
            }
        }
    }

    private Loop watch(LeaderSession session) {
        return new Loop(loop(), contenders.taker.holder, contenders.events, () -> look(session));
    }

    private String loop() {
        return "leader-session-" + name;
    }

    /** A step of the watching thread: a second after the last answer, whoever got that. */
    private long look(LeaderSession session) throws InterruptedException {
        long left = BETWEEN_LOOKS - session.silence();
        if (left > 0) {
            return left;
        }
        try {
            if (!session.isSeenWithLock()) {
                cut(session);
            }
        } catch (SQLException | RuntimeException e) {
            lost(session, "its session did not answer: " + Described.text(e));
        }
        return BETWEEN_LOOKS;
    }

    /** The server says that the session has the lock no more. */
    private void cut(LeaderSession session) {
        session.cut();
        lost(session, "its session had the lock no more");
    }

    /** Once for each session; what goes on over it goes on, and may commit if the session is alive after all. */
    private void lost(LeaderSession session, String reason) {
        if (state.lose(session)) {
            tellLost(reason);
        }
        session.close();
    }

    private void tellLost(String reason) {
        failed(reason);
        Described.quietly(
                () -> LOG.warn("A leader has lost its session; another may lead (leader={}): {}", name, reason));
        List<Runnable> told = new ArrayList<>(calls);
        told.add(0, () -> contenders.events.tell(new LeaderSessionLost(name, reason)));
        Keeper.callApart(name, told);
    }

    private void failed(String reason) {
        FailingLoop last = failing;
        failing = new FailingLoop(loop(), last == null ? 1 : last.failures() + 1, reason);
    }

    @Override
    public AdvisoryLeader onLost(Runnable call) {
        calls.add(LeaseChecks.present("onLost", call));
        return this;
    }

    @Override
    public void release() {
        close(state.release());
        failing = null;
    }

    @Override
    public void ask() {
        release();
    }

    @Override
    public boolean stop(Duration grace) {
        release();
        try {
            if (state.await(grace.toNanos())) {
                return true;
            }
            state.interrupt();
            return state.await(LAST_PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public boolean works(HeldLease lease) {
        return false;
    }

    @Override
    public List<FailingLoop> failing() {
        FailingLoop last = failing;
        return last == null ? state.failing().stream().toList() : List.of(last);
    }
}
