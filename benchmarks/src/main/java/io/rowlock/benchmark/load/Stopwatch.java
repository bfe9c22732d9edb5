package io.rowlock.benchmark.load;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Measures how long something takes to come about. */
final class Stopwatch {
    private static final long LONGEST = TimeUnit.MINUTES.toNanos(20);

    private final long startedAt = System.nanoTime();

    private Stopwatch() {}

    static Stopwatch started() {
        return new Stopwatch();
    }

    /** Asks every few milliseconds, which is little beside what is measured, until it holds; seconds since the start. */
    double until(Callable<Boolean> holds) throws Exception {
        while (!holds.call()) {
            if (System.nanoTime() - startedAt > LONGEST) {
                throw new TimeoutException("Not done after " + Duration.ofNanos(LONGEST));
            }
            TimeUnit.MILLISECONDS.sleep(2);
        }
        return seconds();
    }

    double seconds() {
        return (System.nanoTime() - startedAt) / 1e9;
    }
}
