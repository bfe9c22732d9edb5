package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Handlers that write a row of their own to the database. */
public final class Transactional {
    private static final int JOBS = 30_000;
    private static final int SLOTS = 16;

    private Transactional() {}

    /** In the transaction that completes the job, and in one of the handler's own. */
    public static Figure drained() {
        return new Figure(
                "transactional",
                "Drain by one worker of jobs whose handlers write a row",
                "jobs/s",
                List.of(
                        new Contender("transactional", SLOTS + " slots", trial -> jobsPerSecond(trial, true))
                                .promising(
                                        "the row is written exactly once: it commits with the completion of its job"),
                        new Contender(
                                        "leased",
                                        SLOTS + " slots, a pool for the handlers' own transactions",
                                        trial -> jobsPerSecond(trial, false))
                                .promising(
                                        "the row may be written twice: its transaction ends before the completion's")),
                List.of(),
                "Each job is a commit of its own, a wait for the disk that it shares with those of the other slots. A"
                        + " transactional job locks its row first and completes itself, two more statements; a leased one is"
                        + " completed with many others later.");
    }

    private static double jobsPerSecond(Trial trial, boolean transactional) throws Exception {
        int jobs = trial.scaled(JOBS);
        trial.schema().execute("CREATE TABLE effect (number bigint PRIMARY KEY, text text)");
        var handlers = trial.pool(SLOTS);
        Backlog backlog = Backlog.of(trial, jobs, SLOTS + 5);
        LongAdder ran = new LongAdder();
        Worker worker = backlog.rowlock().worker(w -> {
            WorkerConfig config = w.queue("default", SLOTS).keepCompleted(Duration.ZERO);
            if (transactional) {
                config.handleTransactionally(Noop.class, (payload, job, connection) -> {
                    write(connection, payload);
                    ran.increment();
                });
            } else {
                config.handle(Noop.class, (payload, job) -> {
                    try (Connection connection = handlers.getConnection()) {
                        write(connection, payload);
                    }
                    ran.increment();
                });
            }
        });
        trial.settle();
        double rate = RowlockDrain.jobsPerSecond(trial, worker, jobs, ran);
        long written = trial.schema().count("SELECT count(*) FROM effect");
        if (written != jobs) {
            throw new IllegalStateException(jobs + " jobs have written " + written + " rows");
        }
        return rate;
    }

    private static void write(Connection connection, Noop payload) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
            insert.setLong(1, payload.number());
            insert.setString(2, payload.text());
            insert.executeUpdate();
        }
    }
}
