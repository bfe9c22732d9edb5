package io.rowlock.saga.internal.engine;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call that may take too long. Then the timer decides its outcome while its thread may still run: the thread is
 * interrupted, and whatever it brings counts for nothing. Exactly one of the two decides.
 */
final class TimedCall {
    private static final Logger LOG = LoggerFactory.getLogger(TimedCall.class);

    private enum Decided {
        NOT_YET,
        BY_CALL,
        BY_TIMER
    }

    private final Parts parts;
    private final @Nullable Duration limit;
    private final AtomicReference<Decided> decided = new AtomicReference<>(Decided.NOT_YET);
    private final CountDownLatch timerDone = new CountDownLatch(1);
    private final Thread caller = Thread.currentThread();

    TimedCall(Parts parts, @Nullable Duration limit) {
        this.parts = parts;
        this.limit = limit;
    }

    /** What the timer does when it decides: on a thread of its own, as it may have to wait for rows that are locked. */
    @FunctionalInterface
    interface TooLong {
        void decide() throws Exception;
    }

    /** Calls; {@link #decidedByTimer} tells whether what comes back, or is thrown, counts. */
    <T> T call(Callable<T> work, TooLong tooLong) throws Exception {
        ScheduledFuture<?> alarm = limit == null ? null : alarm(limit, () -> expire(tooLong));
        try {
            return work.call();
        } finally {
            if (alarm != null) {
                alarm.cancel(false);
            }
            if (!settle()) {
                awaitTimer();
            }
        }
    }

    private ScheduledFuture<?> alarm(Duration after, Runnable expire) {
        return parts.timer().schedule(() -> parts.crew().execute(expire), after.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** From here on the call decides, however long the rest of it takes; false if its time is over. */
    boolean settle() {
        return decided.compareAndSet(Decided.NOT_YET, Decided.BY_CALL) || decided.get() == Decided.BY_CALL;
    }

    boolean decidedByTimer() {
        return decided.get() == Decided.BY_TIMER;
    }

    private void expire(TooLong tooLong) {
        if (!decided.compareAndSet(Decided.NOT_YET, Decided.BY_TIMER)) {
            return;
        }
        caller.interrupt();
        try {
            tooLong.decide();
        } catch (Throwable e) {
            LOG.error("That an attempt of a saga took too long could not be recorded; its driver runs again", e);
        } finally {
            timerDone.countDown();
        }
    }

    /** The interrupt was for the call alone. */
    private void awaitTimer() {
        boolean done = false;
        while (!done) {
            try {
                timerDone.await();
                done = true;
            } catch (InterruptedException again) {
                // what it is told is over already
            }
        }
        Thread.interrupted();
    }
}
