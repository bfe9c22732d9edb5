package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** A backlog that is larger than memory would like. */
public final class Millions {
    private static final int LARGE = 5_000_000;
    private static final int SMALL = 400_000;
    private static final int DRAINED = 200_000;

    private static final String ADD = """
            INSERT INTO rowlock_job (queue, kind, priority, payload, run_at, state)
            SELECT 'default', 'noop', 1, '{"number":1,"text":"0123456789abcdef"}',
                   clock_timestamp() - interval '1 hour' + n * interval '1 microsecond', 'ready'
            FROM generate_series(1, %d) n
            """;

    private Millions() {}

    /** The first of five million, beside the first of a smaller one. */
    public static Figure waiting() {
        return new Figure(
                "backlog",
                "The first 200,000 jobs of a backlog of five million",
                "jobs/s",
                List.of(of("of 5,000,000", LARGE), of("of 400,000", SMALL)),
                List.of(),
                "A claim reads its rows from the end of the due index, however long that is. What is different are the pages:"
                        + " more of them, and fewer in memory.");
    }

    private static Contender of(String name, int backlog) {
        return new Contender(name, "one worker, 32 slots, completed rows deleted", trial -> {
            Backlog jobs = Backlog.empty(trial);
            trial.schema().execute(ADD.formatted(trial.scaled(backlog)));
            trial.settle();
            return jobsPerSecond(trial, jobs);
        });
    }

    private static double jobsPerSecond(Trial trial, Backlog backlog) throws Exception {
        int drained = trial.scaled(DRAINED);
        LongAdder ran = new LongAdder();
        Worker worker = backlog.rowlock()
                .worker(w -> w.queue("default", 32)
                        .keepCompleted(Duration.ZERO)
                        .handle(Noop.class, (payload, job) -> ran.increment()));
        Stopwatch watch = Stopwatch.started();
        worker.start();
        try {
            double seconds = watch.until(() -> ran.sum() >= drained);
            return drained / seconds;
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }
}
