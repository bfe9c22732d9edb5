package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** A snapshot that is held open elsewhere, so that nothing dead can be cleared away. */
public final class Pinned {
    private static final int DRAINED = 1_000_000;
    private static final int SLOTS = 32;

    private Pinned() {}

    /** A drain of many jobs with a snapshot pinned for the whole run, and without. */
    public static Figure drain() {
        return new Figure(
                "pinned-drain",
                "Drain of 1,000,000 jobs while a snapshot is pinned for the whole run",
                "jobs/s",
                List.of(drain("pinned", true), drain("not pinned", false)),
                List.of(Reach.atLeast(0.9, "pinned", "not pinned")),
                "With the watermark a claim does not walk the dead entries that the pinned snapshot keeps.");
    }

    private static Contender drain(String name, boolean pinned) {
        return new Contender(name, pinned ? "a REPEATABLE READ transaction open since before the run" : "", trial -> {
            int jobs = trial.scaled(DRAINED);
            Backlog backlog = Backlog.of(trial, jobs);
            if (pinned) {
                pin(trial);
            }
            return RowlockDrain.jobsPerSecond(
                    trial, backlog, jobs, w -> w.queue("default", SLOTS).keepCompleted(Duration.ZERO));
        });
    }

    /** Until the end of the trial. */
    static void pin(Trial trial) throws SQLException {
        Connection connection = trial.closing(trial.schema().connect());
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT count(*) FROM rowlock_queue");
        }
    }
}
