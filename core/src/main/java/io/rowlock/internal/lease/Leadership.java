package io.rowlock.internal.lease;

import io.rowlock.internal.engine.Loop;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * One monitor for all of it, which nobody holds while he waits for the network: a release, a stop or a loss comes through whatever
 * others wait for. Three keep the lock: a leader that was told to go on (kept), a unit of work, and whoever is asking at this
 * moment, for he may be about to work. The one who is the last of them takes the session out, and gives it back outside. A release
 * lets go of the first and of those who ask, never of work: the lock stays until that has ended.
 */
/** What this process knows of its leadership, and who needs its session. Sends no SQL. */
final class Leadership {
    private final Contenders contenders;
    private final Contender self;
    private final Set<LeaderUnit> units = new LinkedHashSet<>();

    private @Nullable LeaderSession session;
    private @Nullable Loop watch;
    private boolean locked; // as far as is known
    private boolean released; // though units work
    private boolean kept;
    private int asking;
    private long releases;

    Leadership(Contenders contenders, Contender self) {
        this.contenders = contenders;
        this.self = self;
    }

    /** To be followed by {@link #answered}; gives what {@link #leads} wants. */
    synchronized long ask() {
        asking++;
        contenders.add(self);
        return releases;
    }

    synchronized @Nullable LeaderSession session() {
        return session;
    }

    /** Whether that session is ours, and has the lock as far as is known. */
    synchronized boolean isLocked(LeaderSession of) {
        return session == of && locked;
    }

    /** Whether nothing was released since the question. */
    synchronized boolean isAsked(long asked) {
        return releases == asked;
    }

    /** The session has answered whether it has the lock; false if it has not, or all was released since the question. */
    synchronized boolean leads(LeaderSession answered, boolean hasLock, long asked, Supplier<Loop> watching) {
        if (releases != asked) {
            return false;
        }
        if (hasLock && watch == null) {
            Loop begun = watching.get();
            begun.start();
            watch = begun;
        }
        session = answered;
        locked = hasLock;
        released = false;
        return hasLock;
    }

    synchronized boolean isLeading() {
        return locked && !released;
    }

    /** It goes on without work; false if it leads no more. */
    synchronized boolean keep() {
        kept = isLeading();
        return kept;
    }

    /** A unit of work of this thread; null if it leads no more. */
    synchronized @Nullable LeaderUnit begin() {
        if (session == null || !isLeading()) {
            return null;
        }
        LeaderUnit unit = new LeaderUnit(session);
        units.add(unit);
        return unit;
    }

    /**
     * Ends the asking.
     *
     * @param waits whether a session that has no lock is kept for the next try
     * @return what is to be closed
     */
    synchronized @Nullable LeaderSession answered(boolean waits) {
        asking--;
        return waits && !locked ? null : takeUnused();
    }

    /** Ends a unit of work, by its own thread; gives what is to be closed. */
    synchronized @Nullable LeaderSession end(LeaderUnit unit) {
        units.remove(unit);
        unit.end();
        notifyAll();
        return takeUnused();
    }

    /** Lets go of all but work; gives what is to be closed. */
    synchronized @Nullable LeaderSession release() {
        releases++;
        kept = false;
        released = true;
        return isWorking() ? null : take();
    }

    /** True if it led by this session until now. */
    synchronized boolean lose(LeaderSession of) {
        if (session != of) {
            return false;
        }
        boolean led = isLeading();
        units.stream().filter(unit -> unit.session == of).forEach(LeaderUnit::lose);
        kept = false;
        drop();
        return led;
    }

    private @Nullable LeaderSession takeUnused() {
        return asking > 0 || kept || isWorking() ? null : take();
    }

    /** Those of a session that is lost have nothing to hold on to. */
    private boolean isWorking() {
        return units.stream().anyMatch(unit -> !unit.isLost());
    }

    private @Nullable LeaderSession take() {
        contenders.leave(self);
        return drop();
    }

    private @Nullable LeaderSession drop() {
        LeaderSession last = session;
        session = null;
        locked = false;
        if (watch != null) {
            watch.stop();
            watch = null;
        }
        return last;
    }

    /** Why nobody looks, if so. */
    synchronized Optional<FailingLoop> failing() {
        return watch == null ? Optional.empty() : watch.failing();
    }

    /** Waits for the units of work; true if there is none any more. */
    synchronized boolean await(long nanos) throws InterruptedException {
        long until = System.nanoTime() + nanos;
        long left = nanos;
        while (!units.isEmpty() && left > 0) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
            left = until - System.nanoTime();
        }
        return units.isEmpty();
    }

    synchronized void interrupt() {
        units.forEach(LeaderUnit::interrupt);
    }
}
