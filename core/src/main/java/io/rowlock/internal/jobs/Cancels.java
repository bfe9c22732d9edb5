package io.rowlock.internal.jobs;

import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.JobCancelled;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.outbox.CurrentJob;
import io.rowlock.internal.sql.KeySql.Hold;
import io.rowlock.internal.sql.OperationSql;
import io.rowlock.internal.sql.OperationSql.Cancelled;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.spi.AccessPolicy.Action;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Cancels one job inside a transaction: at once, or, where its handler has the row locked, by a row that asks for it. */
final class Cancels {
    private static final int LOCK_TRIES = 10;
    private static final long LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(25);
    private static final int MAX_REASON = 2_000;

    private final Desk desk;
    private final OperationSql sql;

    Cancels(Desk desk) {
        this.desk = desk;
        this.sql = desk.sql().operations();
    }

    /** The answer; asked: the row was locked, and whoever works on the job is to end it. */
    record Cancel(Cancellation answer, boolean asked) {
        boolean changed() {
            return answer == Cancellation.STOPPED || answer == Cancellation.REQUESTED;
        }

        boolean requested() {
            return answer == Cancellation.REQUESTED;
        }
    }

    /** With the row that says by whom; what becomes of it is told to the listener before it is committed. */
    Cancel cancel(Connection open, long id, By by, RowlockListener listener) throws SQLException {
        Cancel done = perform(open, id, by, listener);
        if (done.changed()) {
            sql.record(open, id, "cancel", by);
        }
        return done;
    }

    private Cancel perform(Connection open, long id, By by, RowlockListener listener) throws SQLException {
        if (desk.bound() != null && CurrentJob.isAtWork(desk.sql().names(), id)) {
            throw new InvalidUseException(
                    "A handler must not cancel its own job in a transaction of its own, which could then"
                            + " not be completed; throw PermanentFailure to give up, or cancel it by jobs().cancel() (job="
                            + id + ")");
        }
        Optional<Place> place = sql.whereIs(open, id);
        if (place.isEmpty()) {
            return new Cancel(Cancellation.UNKNOWN, false);
        }
        desk.require(Action.CANCEL, by, place.get());
        if (place.get().leased() && !lockSoon(open, id, place.get().key())) {
            desk.sql().requests().request(open, id, reason("cancelled", by));
            return new Cancel(Cancellation.REQUESTED, true);
        }
        Place locked = desk.lock(open, id).orElse(place.get());
        OrderingKey key = locked.key();
        Optional<Cancelled> cancelled = sql.cancel(open, id, reason("cancelled", by));
        cancelled.ifPresent(
                was -> listener.on(new JobCancelled(id, locked.queue(), locked.kind(), reason("cancelled", by))));
        if (key != null && cancelled.isPresent()) {
            settle(open, key, id, cancelled.get());
        }
        return new Cancel(
                cancelled
                        .map(was -> was.leased() ? Cancellation.REQUESTED : Cancellation.STOPPED)
                        .orElse(Cancellation.ALREADY_FINISHED),
                false);
    }

    private void settle(Connection open, OrderingKey key, long id, Cancelled was) throws SQLException {
        if (was.leased()) { // its handler may run on
            desk.sql().keys().hold(open, new Hold(key, id, was.token()), was.lease());
        }
        desk.sql().keys().settleWithin(open, key);
    }

    /** False if the handler's own transaction has the key or the row locked; the engine has either for a moment only. */
    private boolean lockSoon(Connection open, long id, @Nullable OrderingKey key) throws SQLException {
        boolean keyLocked = key == null;
        for (int i = 0; i < LOCK_TRIES; i++) {
            keyLocked = keyLocked || sql.tryLockKey(open, Objects.requireNonNull(key));
            if (keyLocked && sql.tryLock(open, id)) {
                return true;
            }
            LockSupport.parkNanos(LOCK_PAUSE);
        }
        return !sql.whereIs(open, id).map(Place::leased).orElse(false);
    }

    static String reason(String what, By by) {
        String text = what + " by " + by.who() + ": " + by.why();
        return text.length() > MAX_REASON ? text.substring(0, MAX_REASON) : text;
    }
}
