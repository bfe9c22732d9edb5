package io.rowlock.internal.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Does the runs of one queue on an executor, at most so many at once; the others wait here in order. For any thread. */
final class QueueRunner {
    private int concurrency;
    private final Executor executor;
    private final Consumer<Run> attempt;
    private final Deque<Run> waiting = new ArrayDeque<>();
    private int running;

    QueueRunner(int concurrency, Executor executor, Consumer<Run> attempt) {
        this.concurrency = concurrency;
        this.executor = executor;
        this.attempt = attempt;
    }

    void add(Run run) {
        synchronized (this) {
            waiting.add(run);
            if (running >= concurrency) {
                return;
            }
            running++;
        }
        try {
            executor.execute(this::work);
        } catch (RuntimeException | Error rejected) {
            if (refused(run)) {
                throw rejected;
            }
        }
    }

    /** Does at most so many at once from now on; those beyond that go on to their end. */
    void concurrency(int most) {
        int more;
        synchronized (this) {
            concurrency = most;
            more = Math.max(0, Math.min(most - running, waiting.size()));
            running += more;
        }
        for (int left = more; left > 0; left--) {
            try {
                executor.execute(this::work);
            } catch (RuntimeException | Error rejected) {
                notStarted(left);
                throw rejected;
            }
        }
    }

    private synchronized void notStarted(int runs) {
        running -= runs;
    }

    /** False if another thread of this queue has taken the run meanwhile: then it runs after all. */
    private synchronized boolean refused(Run run) {
        running--;
        return waiting.remove(run);
    }

    /** Takes out the runs that have not begun and whose first job is such a one. */
    synchronized List<Run> takeWaiting(Predicate<LeasedJob> first) {
        List<Run> taken =
                waiting.stream().filter(run -> first.test(run.first())).toList();
        waiting.removeAll(taken);
        return taken;
    }

    synchronized int running() {
        return running;
    }

    private void work() {
        Run run = next();
        while (run != null) {
            attempt.accept(run);
            run = next();
        }
    }

    private synchronized @Nullable Run next() {
        Run run = running > concurrency ? null : waiting.poll();
        if (run == null) {
            running--;
        }
        return run;
    }
}
