package io.rowlock.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.job.JobContext;
import io.rowlock.spi.HandlerInterceptor;
import io.rowlock.spi.HandlerInterceptor.Invocation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Calls a handler through its interceptors, the first outermost. Whatever they do, this returns only if the handler ran once
 * and returned: a job must not be completed by an interceptor that forgot to call it, or swallowed what it threw.
 */
final class Interceptors {
    private final List<HandlerInterceptor> interceptors;

    Interceptors(List<HandlerInterceptor> interceptors) {
        this.interceptors = List.copyOf(interceptors);
    }

    void around(JobContext job, Invocation handler) throws Exception {
        from(0, job, handler);
    }

    private void from(int next, JobContext job, Invocation handler) throws Exception {
        if (next == interceptors.size()) {
            handler.proceed();
            return;
        }
        HandlerInterceptor interceptor = interceptors.get(next);
        Once rest = new Once(interceptor, () -> from(next + 1, job, handler));
        try {
            interceptor.around(job, rest);
        } catch (Throwable thrown) {
            rest.addTo(thrown);
            throw thrown;
        }
        rest.requireReturned();
    }

    /** For the thread that made it. */
    private static final class Once implements Invocation {
        private final HandlerInterceptor interceptor;
        private final Invocation rest;
        private final Thread thread = Thread.currentThread();
        private boolean called;
        private @Nullable Throwable thrown;

        Once(HandlerInterceptor interceptor, Invocation rest) {
            this.interceptor = interceptor;
            this.rest = rest;
        }

        @Override
        public void proceed() throws Exception {
            if (Thread.currentThread() != thread) {
                throw wrong("called proceed() on another thread than its own");
            }
            if (called) {
                throw wrong("called proceed() twice; leave another attempt to the job's retry policy");
            }
            called = true;
            try {
                rest.proceed();
            } catch (Throwable t) {
                thrown = t;
                throw t;
            }
        }

        /** What the handler threw is not lost where an interceptor threw something else. */
        void addTo(Throwable instead) {
            boolean told = thrown == instead || thrown == instead.getCause() || instead.getSuppressed().length > 0;
            if (thrown != null && !told) { // one that is thrown again and again must not grow
                instead.addSuppressed(thrown);
            }
        }

        void requireReturned() throws Exception {
            if (!called) {
                throw wrong("returned without calling proceed(), so that the handler did not run");
            }
            if (thrown instanceof Exception e) {
                throw e;
            }
            if (thrown instanceof Error e) {
                throw e;
            }
            if (thrown != null) {
                throw new RowlockException("The handler failed", thrown);
            }
        }

        private InvalidUseException wrong(String what) {
            return new InvalidUseException("A HandlerInterceptor " + what + " ("
                    + interceptor.getClass().getName() + ")");
        }
    }
}
