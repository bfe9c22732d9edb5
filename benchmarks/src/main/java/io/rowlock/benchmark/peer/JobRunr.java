package io.rowlock.benchmark.peer;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Trial;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jobrunr.scheduling.BackgroundJob;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;

/** JobRunr, the open-source edition. */
public final class JobRunr {
    private static final int JOBS = 6_000;
    private static final int WORKERS = 16;

    private static volatile CountDownLatch left = new CountDownLatch(0);

    private JobRunr() {}

    /** Works a backlog off. */
    public static Contender drain() {
        return new Contender(
                        "JobRunr",
                        WORKERS + " workers, polls every 5 s, the shortest it takes, succeeded jobs deleted at once",
                        JobRunr::jobsPerSecond)
                .promising(
                        "at least once; outcomes are checked by a version; a dead server's jobs run again when it has timed out;"
                                + " ten retries, then failed, kept; jobs are stored as the name of a class and a method");
    }

    /** The job; JobRunr calls it by name. */
    public static void run(String payload) {
        if (payload.isEmpty()) {
            throw new IllegalArgumentException("a payload was lost");
        }
        left.countDown();
    }

    private static double jobsPerSecond(Trial trial) throws Exception {
        int jobs = trial.scaled(JOBS);
        left = new CountDownLatch(jobs);
        var storage = new PostgresStorageProvider(
                trial.pool(WORKERS + 5), trial.schema().name() + ".");
        org.jobrunr.configuration.JobRunr.configure()
                .useStorageProvider(storage)
                .useBackgroundJobServer(
                        BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                                .andPollInterval(Duration.ofSeconds(5))
                                .andWorkerCount(WORKERS)
                                .andDeleteSucceededJobsAfter(Duration.ZERO),
                        false)
                .initialize();
        try {
            BackgroundJob.enqueue(
                    IntStream.range(0, jobs).boxed(), number -> run("0123456789012345678901234567890123456789"));
            trial.settle();
            long startedAt = System.nanoTime();
            org.jobrunr.configuration.JobRunr.getBackgroundJobServer().start();
            if (!left.await(20, TimeUnit.MINUTES)) {
                throw new TimeoutException("JobRunr has " + left.getCount() + " jobs left");
            }
            return jobs / ((System.nanoTime() - startedAt) / 1e9);
        } finally {
            org.jobrunr.configuration.JobRunr.destroy();
        }
    }
}
