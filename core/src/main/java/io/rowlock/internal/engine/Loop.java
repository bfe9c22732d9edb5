package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that runs a step again and again until stopped. Nothing a step throws ends it (promise P10): it waits 100 ms,
 * doubled up to 5 s, and goes on. Its last failure is what health tells.
 */
public final class Loop {
    private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(5);
    private static final long LOG_EVERY = TimeUnit.MINUTES.toNanos(1);

    private final String name;
    private final String worker;
    private final Step step;
    private final Events events;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    private boolean woken;
    private boolean urgent;
    private boolean stopping;
    private volatile boolean ended;
    private volatile @Nullable FailingLoop failing;
    private int failures; // in a row; this and the next are the thread's own
    private long loggedAt;

    /** Not yet started; the thread is a daemon's. */
    public Loop(String name, String worker, Events events, Step step) {
        this.name = name;
        this.worker = worker;
        this.events = events;
        this.step = step;
        this.thread = new Thread(this::run, worker + '-' + name);
        this.thread.setDaemon(true);
    }

    /** One round of the loop. */
    @FunctionalInterface
    public interface Step {
        /** Does something, and says for how many nanoseconds to pause unless woken; 0 to go on at once. */
        long run() throws Exception;
    }

    /** Once. */
    public void start() {
        thread.start();
    }

    /** Ends the present pause, or the next one if the step runs now. */
    public void wake() {
        lock.lock();
        try {
            woken = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** The same, and ends a pause after a failure too: for what comes seldom and cannot wait. */
    public void wakeNow() {
        lock.lock();
        try {
            urgent = true;
            woken = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Lets the step that runs now end, and no other begin. */
    public void stop() {
        lock.lock();
        try {
            stopping = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the thread to end; true if it did. */
    public boolean join(long millis) throws InterruptedException {
        thread.join(Math.max(1, millis));
        return !thread.isAlive();
    }

    /** Its last failure, while it fails; that it is no more, if its thread is gone and nobody stopped it. */
    public Optional<FailingLoop> failing() {
        if (thread.getState() == Thread.State.TERMINATED && !ended) {
            return Optional.of(new FailingLoop(name, 1, "its thread is gone; restart the worker"));
        }
        return Optional.ofNullable(failing);
    }

    private void run() {
        while (!isStopping()) {
            try {
                long pause = step.run();
                recovered();
                pause(pause, true);
            } catch (Throwable thrown) {
                pause(failed(thrown), false);
            }
        }
        ended = true;
    }

    private boolean isStopping() {
        lock.lock();
        try {
            return stopping;
        } finally {
            lock.unlock();
        }
    }

    /** After a failure no ordinary wake-up shortens the pause, or a busy application would make a hot loop of it. */
    private void pause(long nanos, boolean wakeable) {
        lock.lock();
        try {
            long left = nanos;
            while (left > 0 && !stopping && !urgent && !(wakeable && woken)) {
                left = changed.awaitNanos(left);
            }
            woken = false;
            urgent = false;
        } catch (InterruptedException e) {
            LOG.debug("Interrupted; engine threads end by stop() only (loop={})", name);
        } finally {
            lock.unlock();
        }
    }

    /**
     * For a step that has got over what failed before it and may go on for long: health tells of no failure meanwhile. The pause
     * after the next one is that of the next in a row all the same.
     */
    public void works() {
        failing = null;
    }

    private void recovered() {
        int before = failures;
        if (before > 0) {
            failing = null;
            failures = 0;
            loggedAt = 0;
            LOG.info("Works again after {} failures (worker={}, loop={})", before, worker, name);
        }
    }

    /** Gives how long to pause. Nothing here may throw, not even for want of memory. */
    private long failed(Throwable thrown) {
        int before = failures;
        failures++;
        try {
            failing = new FailingLoop(name, failures, Described.text(thrown));
            tell(thrown);
        } catch (Throwable again) {
            before = 10;
        }
        return Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(before, 10));
    }

    private void tell(Throwable thrown) {
        long now = System.nanoTime();
        if (failures == 1 || now - loggedAt > LOG_EVERY) {
            loggedAt = now;
            LOG.warn(
                    "A loop of the worker failed and will try again (worker={}, loop={}, failures={}): {}",
                    worker,
                    name,
                    failures,
                    Described.text(thrown));
            LOG.debug("The failure", thrown);
        }
        events.tell(new LoopFailed(worker, name, failures, thrown));
    }
}
