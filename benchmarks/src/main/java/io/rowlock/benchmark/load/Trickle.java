package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.Enqueued;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One job after another, each written when the one before has run, so that a claim is never about more than one. */
public final class Trickle {
    private static final int JOBS = 4_000;
    private static final int DEAD = 500_000;

    private static final String ADD = """
            INSERT INTO rowlock_job (queue, kind, priority, payload, run_at, state)
            SELECT 'default', 'noop', 1, '{"number":1,"text":"0123456789abcdef"}', clock_timestamp() - interval '1 minute', 'ready'
            FROM generate_series(1, %d)
            """;

    private Trickle() {}

    /** With dead entries of a lane's past that a snapshot keeps, and with none. */
    public static Figure besideDeadEntries() {
        return new Figure(
                "trickle",
                "Trickle of single jobs while a snapshot keeps 500,000 dead entries of the same lane",
                "jobs/s",
                List.of(trickle("dead entries pinned", true), trickle("none", false)),
                List.of(Reach.atLeast(0.8, "dead entries pinned", "none")),
                "A turn is an insert and its commit, a claim and its commit, and a completion behind which the client does not wait:"
                        + " two waits for the disk. A claim begins at its watermark, behind the dead entries; the looks back for"
                        + " late commits walk them, every few seconds.");
    }

    private static Contender trickle(String name, boolean pinned) {
        String setting = pinned ? "a REPEATABLE READ transaction open since before the rows were deleted" : "";
        return new Contender(name, setting, trial -> {
            Backlog backlog = Backlog.empty(trial);
            if (pinned) {
                trial.schema().execute(ADD.formatted(trial.scaled(DEAD)));
                Pinned.pin(trial);
                trial.schema().execute("DELETE FROM rowlock_job");
            }
            trial.settle();
            return jobsPerSecond(trial, backlog);
        });
    }

    private static double jobsPerSecond(Trial trial, Backlog backlog) throws Exception {
        int jobs = trial.scaled(JOBS);
        Semaphore ran = new Semaphore(0);
        Worker worker = backlog.rowlock()
                .worker(w -> w.queue("default", 8)
                        .keepCompleted(Duration.ZERO)
                        .handle(Noop.class, (payload, job) -> ran.release()));
        worker.start();
        try (Connection connection = backlog.pool().getConnection()) {
            connection.setAutoCommit(false);
            turn(backlog, connection, ran); // the first claim finds its watermark
            Stopwatch watch = Stopwatch.started();
            for (int i = 0; i < jobs; i++) {
                turn(backlog, connection, ran);
            }
            return jobs / watch.seconds();
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }

    private static void turn(Backlog backlog, Connection connection, Semaphore ran)
            throws SQLException, InterruptedException, TimeoutException {
        Enqueued written = backlog.rowlock().outbox().enqueue(connection, Noop.of(1));
        connection.commit();
        backlog.rowlock().wake(List.of(written));
        if (!ran.tryAcquire(1, TimeUnit.MINUTES)) {
            throw new TimeoutException("A job did not run");
        }
    }
}
