package io.rowlock.benchmark.load;

import io.rowlock.Rowlock;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.JobRequest;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.postgresql.ds.PGSimpleDataSource;

/** Many workers on a database that has not many connections. */
public final class Connections {
    private static final int WORKERS = 40;
    private static final int ALLOWED = 100;
    private static final int JOBS = 200_000;
    private static final int BATCH = 5_000;

    private static final String HELD = """
            SELECT max(each) AS most, sum(each) AS together
            FROM (SELECT count(*) AS each FROM pg_stat_activity WHERE application_name LIKE 'bench-worker-%'
                  GROUP BY application_name) held
            """;

    private Connections() {}

    /** What each of them holds while they work, at most. */
    public static Figure held() {
        return new Figure(
                        "connections",
                        "Connections of 40 workers on a database that allows 100, while they work a backlog off",
                        "connections of one worker, at most",
                        List.of(new Contender(
                                WORKERS + " workers",
                                "in one JVM, each with a Rowlock of its own and no pool, on a server with max_connections "
                                        + ALLOWED,
                                Connections::most)),
                        List.of(Reach.atMost(3, WORKERS + " workers")),
                        "A worker keeps a connection for claims, one for heartbeats, and one for outcomes while there are some."
                                + " If all 40 want three at once some are refused, and come again: all jobs are done all the same.")
                .withoutWarmUp();
    }

    private static double most(Trial trial) throws Exception {
        OwnPostgres few = trial.closing(TestPostgres.embedded(
                options -> options.durable().setting("max_connections", String.valueOf(ALLOWED))));
        TestSchema schema = TestSchema.create(few, "connections");
        int jobs = trial.scaled(JOBS);
        Rowlock writer = rowlock(schema, "bench-writer");
        writer.schema().install();
        fill(schema, writer, jobs);
        LongAdder ran = new LongAdder();
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            workers.add(rowlock(schema, "bench-worker-" + i)
                    .worker(w -> w.queue("default", 4)
                            .keepCompleted(Duration.ZERO)
                            .handle(Noop.class, (payload, job) -> ran.increment())));
        }
        try (Connection watching = schema.connect()) {
            Stopwatch watch = Stopwatch.started();
            workers.parallelStream().forEach(Worker::start);
            Peak peak = new Peak();
            double seconds = watch.until(() -> peak.look(watching) && ran.sum() >= jobs && left(schema) == 0);
            trial.also("all together", peak.together);
            trial.also("jobs/s", jobs / seconds);
            return peak.most;
        } finally {
            workers.parallelStream().forEach(each -> each.stop(Duration.ofSeconds(20)));
        }
    }

    private static Rowlock rowlock(TestSchema schema, String name) {
        PGSimpleDataSource source = schema.dataSource();
        source.setApplicationName(name);
        return Rowlock.builder().dataSource(source).schema(schema.name()).build();
    }

    private static void fill(TestSchema schema, Rowlock rowlock, int jobs) throws SQLException {
        try (Connection connection = schema.begin()) {
            for (int from = 0; from < jobs; from += BATCH) {
                rowlock.outbox()
                        .enqueueAll(
                                connection,
                                IntStream.range(from, Math.min(jobs, from + BATCH))
                                        .mapToObj(i -> JobRequest.of(Noop.of(i)))
                                        .toList());
            }
            connection.commit();
        }
    }

    private static long left(TestSchema schema) throws SQLException {
        return schema.count("SELECT count(*) FROM (SELECT FROM rowlock_job LIMIT 1) one");
    }

    /** The most that was seen. */
    private static final class Peak {
        private double most;
        private double together;

        boolean look(Connection connection) throws SQLException {
            try (PreparedStatement statement = connection.prepareStatement(HELD);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                most = Math.max(most, row.getDouble("most"));
                together = Math.max(together, row.getDouble("together"));
            }
            return true;
        }
    }
}
