package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Trial;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** One worker works a backlog off; the time runs from its start until the last row is recorded. */
final class RowlockDrain {
    private RowlockDrain() {}

    static double jobsPerSecond(Trial trial, Backlog backlog, int jobs, Consumer<WorkerConfig> config)
            throws Exception {
        trial.settle();
        return withoutSettling(trial, backlog, jobs, config);
    }

    static double withoutSettling(Trial trial, Backlog backlog, int jobs, Consumer<WorkerConfig> config)
            throws Exception {
        LongAdder ran = new LongAdder();
        Worker worker = backlog.rowlock().worker(w -> {
            config.accept(w);
            w.handle(Noop.class, (payload, job) -> ran.increment());
        });
        Stopwatch watch = Stopwatch.started();
        worker.start();
        try {
            double seconds = watch.until(() -> ran.sum() >= jobs && unfinished(trial) == 0);
            return jobs / seconds;
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }

    private static long unfinished(Trial trial) throws Exception {
        return trial.schema().count("SELECT count(*) FROM (SELECT FROM rowlock_job WHERE state = 'ready' LIMIT 1) one");
    }
}
