package io.rowlock.examples.orders;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What was started so far. Closing it stops everything in reverse order, each part even if another failed; a start that
 * fails half-way leaves nothing running. For one thread.
 */
public final class Startup implements AutoCloseable {
    private final Deque<AutoCloseable> started = new ArrayDeque<>();

    /** Starts a part: when it throws, all earlier parts are stopped and the exception goes on. */
    public <T> T start(Start<T> start, Stop<T> stop) {
        try {
            T part = start.start();
            started.push(() -> stop.stop(part));
            return part;
        } catch (Exception e) {
            try {
                close();
            } catch (RuntimeException onClose) {
                e.addSuppressed(onClose);
            }
            throw e instanceof RuntimeException plain ? plain : new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        RuntimeException failure = null;
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                failure = failure == null ? new IllegalStateException("A part did not stop", e) : failure;
                failure.addSuppressed(e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Makes and starts a part. */
    public interface Start<T> {
        T start() throws Exception;
    }

    /** Stops a part. */
    public interface Stop<T> {
        void stop(T part) throws Exception;
    }
}
