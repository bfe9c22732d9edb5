package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.job.JobOptions;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;

/** Jobs with ordering keys beside jobs without. */
public final class Keys {
    private static final int JOBS = 50_000;
    private static final int SLOTS = 32;

    private Keys() {}

    /** A thousand keys, one hot key, none. */
    public static Figure drained() {
        return new Figure(
                "keys",
                "Drain of jobs with ordering keys by one worker, completed rows deleted",
                "jobs/s",
                List.of(
                        contender(
                                "1,000 keys",
                                "job n has key n mod 1,000",
                                (n, job) -> job.orderingKey("k" + n % 1_000)),
                        contender(
                                "one key",
                                "all jobs have one key: they run one after another",
                                (n, job) -> job.orderingKey("k")),
                        contender("no keys", "", (n, job) -> {})),
                List.of(Reach.atLeast(0.3, "1,000 keys", "no keys"), Reach.atLeast(0.2, "one key", "no keys")),
                "Each run of a key is claimed, recorded and settled under the lock of its row, in transactions of its own.");
    }

    private static Contender contender(String name, String setting, BiConsumer<Integer, JobOptions> options) {
        return new Contender(name, setting, trial -> {
            int jobs = trial.scaled(JOBS);
            Backlog backlog = Backlog.empty(trial).add(jobs, options);
            return RowlockDrain.jobsPerSecond(
                    trial, backlog, jobs, w -> w.queue("default", SLOTS).keepCompleted(Duration.ZERO));
        });
    }
}
