package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.LogContext;
import io.rowlock.saga.SagaNode.Step;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step in a branch, on a thread of its own. It brings its answer to the driver's thread, which alone
 * changes the instance; what comes after its time counts for nothing.
 */
final class Flight<S> implements Runnable {
    private final Step<S> step;
    private final Work<S> work;
    private final Calls.Ends<S> ends;
    private final S state;
    private final Duration lease;
    private final long startedAt = System.nanoTime();
    private @Nullable BlockingQueue<Flight<S>> landing;
    private @Nullable S returned;
    private @Nullable Throwable thrown;
    private @Nullable Thread thread;
    private boolean landed;

    /** The call. */
    @FunctionalInterface
    interface Work<S> {
        S over(S state) throws Exception;
    }

    /** A state that cannot be read fails the attempt, as it would in the step. */
    Flight(Step<S> step, Instance<S> saga, Scope scope, Work<S> work, Calls.Ends<S> ends, Duration lease) {
        this.lease = lease;
        this.step = step;
        this.ends = ends;
        S read = null;
        Throwable unreadable = null;
        try {
            read = saga.state(scope);
        } catch (Exception e) {
            unreadable = e;
        }
        this.state = read;
        Throwable failure = unreadable;
        this.work = failure == null
                ? work
                : nothing -> {
                    throw new IllegalStateException("The state cannot be read", failure);
                };
    }

    String name() {
        return step.name();
    }

    void landsIn(BlockingQueue<Flight<S>> queue) {
        landing = queue;
    }

    @Override
    public void run() {
        synchronized (this) {
            thread = Thread.currentThread();
        }
        S answer = null;
        Throwable failure = null;
        LogContext log = LogContext.enter(Map.of("rowlock.step", step.name()));
        try {
            answer = work.over(state);
        } catch (Throwable e) {
            failure = e;
        } finally {
            log.close();
        }
        synchronized (this) {
            thread = null;
            returned = answer;
            thrown = failure;
            landed = true;
        }
        Objects.requireNonNull(landing).add(this);
    }

    /** Nanoseconds until its time is over. */
    long left() {
        return step.timeout() == null
                ? Long.MAX_VALUE
                : startedAt + step.timeout().toNanos() - System.nanoTime();
    }

    /** It has landed: its answer counts. */
    synchronized void end() {
        Calls.end(ends, returned, thrown);
    }

    /** Its time is over; true if it had not landed. */
    synchronized boolean giveUp() {
        if (landed) {
            return false;
        }
        interrupt();
        ends.failed(new TookTooLongException(Objects.requireNonNull(step.timeout()), lease));
        return true;
    }

    /** Tells it to stop. */
    synchronized void interrupt() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
