package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.JobRequest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** What it costs to write jobs. */
public final class Enqueue {
    private static final int SINGLE = 10_000;
    private static final int BULK = 200_000;
    private static final int THREADS = 8;

    private Enqueue() {}

    /** One by one and in bulk, beside an insert of a small row. */
    public static Figure single() {
        return new Figure(
                "enqueue",
                "Writing jobs, committed",
                "jobs/s",
                List.of(
                        jobs("one a transaction", SINGLE, 1, 1),
                        jobs("one a transaction, 8 threads", SINGLE, 1, THREADS),
                        bare("bare insert, one a transaction", 1),
                        bare("bare insert, one a transaction, 8 threads", THREADS),
                        jobs("100 a transaction", BULK, 100, 1),
                        jobs("5,000 a transaction", BULK, 5_000, 1)),
                List.of(),
                "One a transaction: the commit's wait for the disk, which several threads share. In bulk: the rows' entries in"
                        + " the indexes, and the JSON of the payloads.");
    }

    private static Contender jobs(String name, int jobs, int each, int threads) {
        String setting = each == 1 ? "enqueue, commit" : "enqueueAll of " + each + ", commit";
        return new Contender(name, setting, trial -> {
            Backlog backlog = Backlog.empty(trial);
            return perSecond(
                    trial,
                    backlog,
                    trial.scaled(jobs),
                    each,
                    threads,
                    (connection, from, to) -> backlog.rowlock()
                            .outbox()
                            .enqueueAll(
                                    connection,
                                    IntStream.range(from, to)
                                            .mapToObj(i -> JobRequest.of(Noop.of(i)))
                                            .toList()));
        });
    }

    private static Contender bare(String name, int threads) {
        return new Contender(name, "a table of an identity and a text of 40 bytes, by JDBC", trial -> {
            Backlog backlog = Backlog.empty(trial);
            trial.schema().execute("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text)");
            return perSecond(trial, backlog, trial.scaled(SINGLE), 1, threads, (connection, from, to) -> {
                try (PreparedStatement insert = connection.prepareStatement("INSERT INTO bare (text) VALUES (?)")) {
                    insert.setString(1, "0123456789012345678901234567890123456789");
                    insert.executeUpdate();
                }
            });
        });
    }

    private static double perSecond(Trial trial, Backlog backlog, int jobs, int each, int threads, Writer writer)
            throws Exception {
        trial.settle();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            int share = Math.max(1, jobs / threads);
            Callable<Integer> writing = () -> write(backlog, share, each, writer);
            Stopwatch watch = Stopwatch.started();
            int written = 0;
            for (Future<Integer> part : pool.invokeAll(
                    IntStream.range(0, threads).mapToObj(i -> writing).toList())) {
                written += part.get();
            }
            return written / watch.seconds();
        } finally {
            pool.shutdown();
        }
    }

    private static int write(Backlog backlog, int jobs, int each, Writer writer) throws SQLException {
        try (Connection connection = backlog.pool().getConnection()) {
            connection.setAutoCommit(false);
            for (int from = 0; from < jobs; from += each) {
                writer.write(connection, from, Math.min(jobs, from + each));
                connection.commit();
            }
        }
        return jobs;
    }

    /** Writes rows with numbers from one up to another. */
    @FunctionalInterface
    private interface Writer {
        void write(Connection connection, int from, int to) throws SQLException;
    }
}
