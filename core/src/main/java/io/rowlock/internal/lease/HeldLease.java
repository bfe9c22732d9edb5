package io.rowlock.internal.lease;

import io.rowlock.error.LeaseLostException;
import io.rowlock.internal.sql.LeaseSql.Held;
import io.rowlock.lease.Lease;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * Held, lost, released: from the first to one of the others, once. The deadline is the time to live after the last renewal that
 * was answered had been SENT, by the monotonic clock of this process: the row's expires_at is later than that, as the database
 * computed it after the statement had arrived. Whoever looks, looks at the clock, not at what some thread has noticed: a process
 * that stood still sees that it is over before any of its threads does anything. An answer that comes after the deadline brings
 * nothing back. A limit ends it sooner, and by the same look at the clock.
 */
/** A lease of this process. */
final class HeldLease implements Lease {
    private final Held row;
    private final String holder;
    private final Duration timeToLive;
    private final RowFence fence;
    private final Owner owner;

    private State state = State.HELD;
    private long sentAt;
    private String reason = "it was released";
    private @Nullable Limit limit;
    private List<Runnable> calls = new ArrayList<>();

    private enum State {
        HELD,
        LOST,
        RELEASED
    }

    /** Until when it is held at most, by the monotonic clock. */
    private record Limit(long at, String why) {}

    /** Who keeps it up, and is told of its end. */
    interface Owner {
        /** Why no renewal came in time. */
        String silence();

        /** It may be over sooner than was known. */
        void limited();

        /** Tells of the loss, and calls what was to be called. */
        void lost(HeldLease lease, String reason, List<Runnable> calls);

        /** Gives the row back. */
        void released(HeldLease lease);
    }

    HeldLease(Held row, String holder, Duration timeToLive, RowFence fence, Owner owner, long sentAt) {
        this.row = row;
        this.holder = holder;
        this.timeToLive = timeToLive;
        this.fence = fence;
        this.owner = owner;
        this.sentAt = sentAt;
    }

    Held row() {
        return row;
    }

    Duration timeToLive() {
        return timeToLive;
    }

    @Override
    public String name() {
        return row.name();
    }

    @Override
    public long token() {
        return row.token();
    }

    @Override
    public String holder() {
        return holder;
    }

    @Override
    public boolean isHeld() {
        return nanosLeft() > 0;
    }

    @Override
    public Duration left() {
        return Duration.ofNanos(nanosLeft());
    }

    /** 0 when it is over; notices that it is. */
    long nanosLeft() {
        String why = null;
        synchronized (this) {
            if (state != State.HELD) {
                return 0;
            }
            long now = System.nanoTime();
            long left = timeToLive.toNanos() - (now - sentAt);
            if (limit != null && limit.at() - now < left) {
                left = limit.at() - now;
                why = limit.why();
            }
            if (left > 0) {
                return left;
            }
        }
        lose(why == null ? owner.silence() : why);
        return 0;
    }

    /** It is lost when that time has passed, whatever is renewed; what was said first holds. */
    void endWithin(Duration time, String why) {
        synchronized (this) {
            if (limit == null) {
                limit = new Limit(System.nanoTime() + time.toNanos(), why);
            }
        }
        owner.limited();
    }

    /** Until the next renewal is due, or less than 0. */
    synchronized long untilRenewal() {
        return timeToLive.toNanos() / 3 - (System.nanoTime() - sentAt);
    }

    /** Whether it is over, and was not given back. */
    synchronized boolean wasLost() {
        return state == State.LOST;
    }

    /** Whether it was lost, and its limit has passed. */
    synchronized boolean wasOverLimit() {
        return state == State.LOST && limit != null && limit.at() - System.nanoTime() <= 0;
    }

    /** The database has renewed it by a statement that was sent then; counts for nothing if it was over before the answer came. */
    void renewed(long sent) {
        if (nanosLeft() > 0) {
            synchronized (this) {
                sentAt = sent;
            }
        }
    }

    /** It is held no more. */
    void lose(String why) {
        List<Runnable> toCall;
        synchronized (this) {
            if (state != State.HELD) {
                return;
            }
            state = State.LOST;
            reason = why;
            toCall = calls;
            calls = new ArrayList<>();
        }
        owner.lost(this, why, toCall);
    }

    @Override
    public void check() {
        if (!isHeld()) {
            throw new LeaseLostException("The lease is not held any more: " + reason(), name(), token());
        }
    }

    private synchronized String reason() {
        return reason;
    }

    @Override
    public Lease onLost(Runnable call) {
        LeaseChecks.present("onLost", call);
        boolean late;
        synchronized (this) {
            late = state == State.LOST;
            if (state == State.HELD) {
                calls.add(call);
            }
        }
        if (late) {
            Keeper.callApart(name(), List.of(call));
        }
        return this;
    }

    @Override
    public void fence(Connection connection) {
        check();
        fence.fence(connection);
    }

    @Override
    public boolean release() {
        if (nanosLeft() == 0) {
            return false;
        }
        synchronized (this) {
            if (state != State.HELD) {
                return false;
            }
            state = State.RELEASED;
            calls = new ArrayList<>();
        }
        owner.released(this);
        return true;
    }

    @Override
    public String toString() {
        return "Lease[" + name() + ", token=" + token() + ']';
    }
}
