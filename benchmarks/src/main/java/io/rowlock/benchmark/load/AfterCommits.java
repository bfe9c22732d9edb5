package io.rowlock.benchmark.load;

import io.rowlock.benchmark.peer.Modulith;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.Enqueued;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/** One process that writes and handles: what a listener of a commit does, with a row that remembers it. */
public final class AfterCommits {
    private static final int JOBS = 10_000;
    private static final int THREADS = 16;

    private AfterCommits() {}

    /** Beside Spring Modulith's registry. */
    public static Figure handled() {
        return new Figure(
                "after-commit",
                "Jobs written in transactions of their own by 16 threads and handled by as many, in one process",
                "jobs/s",
                List.of(
                        new Contender(
                                        "Rowlock",
                                        THREADS + " slots, wake() after each commit",
                                        AfterCommits::jobsPerSecond)
                                .promising(
                                        "a job is written in the caller's transaction; it is retried by its policy, and goes to"
                                                + " another worker by itself when this one dies; attempts are counted and end in a"
                                                + " dead letter with an alert; a late worker's outcome is refused"),
                        Modulith.published(THREADS)),
                List.of(),
                "The commits of the writers, each a wait for the disk that they share. Behind them Rowlock claims and completes many"
                        + " at a time; a registry entry is completed in one transaction and its listener runs in another.");
    }

    private static double jobsPerSecond(Trial trial) throws Exception {
        int share = Math.max(1, trial.scaled(JOBS) / THREADS);
        int jobs = share * THREADS;
        Backlog backlog = Backlog.of(trial, 0, THREADS + 5);
        LongAdder ran = new LongAdder();
        Worker worker = backlog.rowlock()
                .worker(w -> w.queue("default", THREADS)
                        .keepCompleted(Duration.ZERO)
                        .handle(Noop.class, (payload, job) -> ran.increment()));
        ExecutorService writers = Executors.newFixedThreadPool(THREADS);
        worker.start();
        try {
            Callable<Integer> writing = () -> write(backlog, share);
            trial.settle();
            Stopwatch watch = Stopwatch.started();
            for (Future<Integer> each : writers.invokeAll(
                    IntStream.range(0, THREADS).mapToObj(i -> writing).toList())) {
                each.get();
            }
            return jobs / watch.until(() -> ran.sum() >= jobs && RowlockDrain.unfinished(trial) == 0);
        } finally {
            writers.shutdown();
            worker.stop(Duration.ofSeconds(10));
        }
    }

    private static int write(Backlog backlog, int jobs) throws SQLException {
        try (Connection connection = backlog.pool().getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < jobs; i++) {
                Enqueued written = backlog.rowlock().outbox().enqueue(connection, Noop.of(i));
                connection.commit();
                backlog.rowlock().wake(List.of(written));
            }
        }
        return jobs;
    }
}
