package io.rowlock.internal.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs the claimed jobs of one queue on an executor, at most so many at once; the others wait here in order. */
final class QueueRunner {
    private final int concurrency;
    private final Executor executor;
    private final Consumer<LeasedJob> attempt;
    private final Deque<LeasedJob> waiting = new ArrayDeque<>();
    private int running;

    QueueRunner(int concurrency, Executor executor, Consumer<LeasedJob> attempt) {
        this.concurrency = concurrency;
        this.executor = executor;
        this.attempt = attempt;
    }

    void add(LeasedJob job) {
        synchronized (this) {
            waiting.add(job);
            if (running >= concurrency) {
                return;
            }
            running++;
        }
        try {
            executor.execute(this::work);
        } catch (RuntimeException | Error rejected) {
            if (refused(job)) {
                throw rejected;
            }
        }
    }

    /** False if another thread of this queue has taken the job meanwhile: then it runs after all. */
    private synchronized boolean refused(LeasedJob job) {
        running--;
        return waiting.remove(job);
    }

    /** Takes out the jobs that have not begun. */
    synchronized List<LeasedJob> takeWaiting() {
        List<LeasedJob> left = new ArrayList<>(waiting);
        waiting.clear();
        return left;
    }

    /** Takes out one job if it has not begun; true if it was here. */
    synchronized boolean takeWaiting(LeasedJob job) {
        return waiting.remove(job);
    }

    synchronized int running() {
        return running;
    }

    private void work() {
        LeasedJob job = next();
        while (job != null) {
            attempt.accept(job);
            job = next();
        }
    }

    private synchronized @Nullable LeasedJob next() {
        LeasedJob job = waiting.poll();
        if (job == null) {
            running--;
        }
        return job;
    }
}
