package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Trial;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Handlers that take their time, as one does that waits for another service. */
public final class Handlers {
    private static final Duration LOAD = Duration.ofSeconds(5);

    private Handlers() {}

    /** Of 1 and 20 milliseconds. */
    public static Figure lasting() {
        return new Figure(
                "handlers",
                "Drain by one worker of jobs whose handlers wait",
                "jobs/s",
                List.of(contender(1, 32), contender(20, 32), contender(20, 200)),
                List.of(),
                "The slots: a worker can do no more than slots / time of a handler, and 'of the slots' says how much of that it"
                        + " did. At 1 ms the threads' own wake-ups on a loaded machine take their share; at 20 ms a claim for the"
                        + " next jobs overlaps with the handlers of the last.");
    }

    private static Contender contender(int millis, int slots) {
        return new Contender(
                millis + " ms, " + slots + " slots",
                "parked for " + millis + " ms; " + slots + " platform threads",
                trial -> jobsPerSecond(trial, millis, slots));
    }

    private static double jobsPerSecond(Trial trial, int millis, int slots) throws Exception {
        double possible = slots * 1_000.0 / millis;
        int jobs = (int) (possible * trial.lasting(LOAD).toMillis() / 1_000);
        Backlog backlog = Backlog.of(trial, jobs);
        double rate = RowlockDrain.jobsPerSecond(
                trial,
                backlog,
                jobs,
                w -> w.queue("default", slots).keepCompleted(Duration.ZERO),
                (payload, job) -> await(millis));
        trial.also("of the slots", rate / possible);
        return rate;
    }

    private static void await(int millis) {
        long until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
        for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
