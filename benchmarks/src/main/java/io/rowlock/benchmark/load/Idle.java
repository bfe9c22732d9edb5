package io.rowlock.benchmark.load;

import io.rowlock.Rowlock;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/** A process that has nothing to do. */
public final class Idle {
    private static final int QUEUES = 10;
    private static final int FINISHED = 100_000;
    private static final Duration WATCHED = Duration.ofSeconds(60);
    private static final Duration SETTLING = Duration.ofSeconds(3);
    private static final String CALLS = "SELECT coalesce(sum(calls), 0)::bigint FROM public.pg_stat_statements";
    private static final String BUFFERS =
            "SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0)::bigint FROM public.pg_stat_statements";

    private Idle() {}

    /** What it asks the database, counted by the database. */
    public static Figure statements() {
        return new Figure(
                        "idle",
                        "Statements a second of an idle worker with ten queues",
                        "statements/s",
                        List.of(new Contender(
                                "Rowlock",
                                QUEUES
                                        + " queues, all else by default, 100,000 finished rows; counted by pg_stat_statements, BEGIN and COMMIT too",
                                Idle::perSecond)),
                        List.of(Reach.atMost(3, "Rowlock")),
                        "The poll interval: one claim a second looks into all queues. The rest is heartbeats, looks back and the"
                                + " tasks of housekeeping. In a short run those that come once in tens of seconds are seen by chance.")
                .withoutWarmUp();
    }

    private static double perSecond(Trial trial) throws Exception {
        TestSchema schema = trial.schema();
        Backlog.empty(trial);
        Claims.fill(trial, "noop", "-1 hour", "completed", FINISHED);
        trial.settle();
        schema.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public");
        PGSimpleDataSource counted = schema.dataSource();
        counted.setOptions("-c pg_stat_statements.track=top");
        Rowlock rowlock =
                Rowlock.builder().dataSource(counted).schema(schema.name()).build();
        Worker worker = rowlock.worker(w -> {
            for (int i = 0; i < QUEUES; i++) {
                w.queue("queue-" + i, 10);
            }
            w.handle(Noop.class, (payload, job) -> {});
        });
        worker.start();
        try {
            TimeUnit.MILLISECONDS.sleep(SETTLING.toMillis());
            schema.execute("SELECT public.pg_stat_statements_reset()");
            Stopwatch watch = Stopwatch.started();
            TimeUnit.MILLISECONDS.sleep(trial.lasting(WATCHED).toMillis());
            long calls = schema.count(CALLS);
            double seconds = watch.seconds();
            trial.also("buffers a statement", schema.count(BUFFERS) / (double) Math.max(1, calls));
            return calls / seconds;
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }
}
