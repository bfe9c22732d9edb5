package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.JobHandler;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** One worker works a backlog off; the time runs from its start until the last row is recorded. */
final class RowlockDrain {
    private RowlockDrain() {}

    static double jobsPerSecond(Trial trial, Backlog backlog, int jobs, Consumer<WorkerConfig> config)
            throws Exception {
        return jobsPerSecond(trial, backlog, jobs, config, (payload, job) -> {});
    }

    static double jobsPerSecond(
            Trial trial, Backlog backlog, int jobs, Consumer<WorkerConfig> config, JobHandler<Noop> handler)
            throws Exception {
        trial.settle();
        return withoutSettling(trial, backlog, jobs, config, handler);
    }

    static double withoutSettling(
            Trial trial, Backlog backlog, int jobs, Consumer<WorkerConfig> config, JobHandler<Noop> handler)
            throws Exception {
        LongAdder ran = new LongAdder();
        Worker worker = backlog.rowlock().worker(w -> {
            config.accept(w);
            w.handle(Noop.class, (payload, job) -> {
                handler.handle(payload, job);
                ran.increment();
            });
        });
        return jobsPerSecond(trial, worker, jobs, ran);
    }

    /** Starts the worker, whose handlers count, and stops it when all is done. */
    static double jobsPerSecond(Trial trial, Worker worker, int jobs, LongAdder ran) throws Exception {
        Stopwatch watch = Stopwatch.started();
        worker.start();
        try {
            double seconds = watch.until(() -> ran.sum() >= jobs && unfinished(trial) == 0);
            return jobs / seconds;
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }

    static long unfinished(Trial trial) throws SQLException {
        return trial.ask("SELECT count(*) FROM (SELECT FROM rowlock_job WHERE state = 'ready' LIMIT 1) one");
    }
}
