package io.rowlock.benchmark.peer;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Trial;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;

/** db-scheduler: lock-and-fetch, as its documentation advises for throughput. */
public final class DbScheduler {
    private static final int JOBS = 20_000;
    private static final int THREADS = 50;

    private static final String TABLE = """
            CREATE TABLE scheduled_tasks (
              task_name text NOT NULL, task_instance text NOT NULL, task_data bytea, execution_time timestamptz NOT NULL,
              picked boolean NOT NULL, picked_by text, last_success timestamptz, last_failure timestamptz,
              consecutive_failures int, last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
              PRIMARY KEY (task_name, task_instance))
            """;

    private DbScheduler() {}

    /** Works a backlog off. */
    public static Contender drain() {
        return new Contender(
                        "db-scheduler",
                        THREADS
                                + " threads, pollUsingLockAndFetch(0.5, 4.0), what its README advises for throughput; polls each second",
                        DbScheduler::jobsPerSecond)
                .promising(
                        "at least once; outcomes are checked by a version; a dead worker's tasks run again when heartbeats have"
                                + " been missed, some minutes by default; consecutive failures are counted, a killed process is none;"
                                + " retries without a limit unless a handler says otherwise");
    }

    private static double jobsPerSecond(Trial trial) throws Exception {
        int jobs = trial.scaled(JOBS);
        trial.schema().execute(TABLE);
        trial.schema().execute("CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time)");
        trial.schema().execute("CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat)");
        DataSource pool = trial.pool(THREADS + 5);
        CountDownLatch left = new CountDownLatch(jobs);
        OneTimeTask<String> task = Tasks.oneTime("noop", String.class).execute((instance, context) -> left.countDown());
        Scheduler scheduler = Scheduler.create(pool, List.of(task))
                .threads(THREADS)
                .pollUsingLockAndFetch(0.5, 4.0)
                .pollingInterval(Duration.ofSeconds(1))
                .build();
        fill(scheduler, task, jobs);
        trial.settle();
        long startedAt = System.nanoTime();
        scheduler.start();
        try {
            if (!left.await(20, TimeUnit.MINUTES)) {
                throw new TimeoutException("db-scheduler has " + left.getCount() + " jobs left");
            }
            return jobs / ((System.nanoTime() - startedAt) / 1e9);
        } finally {
            scheduler.stop();
        }
    }

    private static void fill(Scheduler scheduler, OneTimeTask<String> task, int jobs) {
        List<TaskInstance<?>> batch = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            batch.add(task.instance("job-" + i, "0123456789012345678901234567890123456789"));
            if (batch.size() == 1_000 || i == jobs - 1) {
                scheduler.scheduleBatch(batch, Instant.now().minusSeconds(1));
                batch.clear();
            }
        }
    }
}
