package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What a job costs in the write-ahead log. */
public final class Wal {
    private static final int JOBS = 50_000;

    private Wal() {}

    /** Written by a bulk insert, claimed, deleted. */
    public static Figure perJob() {
        return new Figure(
                "wal",
                "WAL written for a job: inserted in bulk, claimed, completed and deleted",
                "bytes",
                List.of(new Contender(
                        "Rowlock",
                        "full_page_writes on, a checkpoint before: the first touch of each page counts",
                        Wal::bytes)),
                List.of(Reach.atMost(1_024, "Rowlock")),
                "The row itself is written twice, by the insert and by the claim; the rest are its entries"
                        + " in the indexes, the locks and the delete.");
    }

    private static double bytes(Trial trial) throws Exception {
        int jobs = trial.scaled(JOBS);
        Backlog backlog = Backlog.empty(trial);
        trial.settle();
        long before = position(trial);
        backlog.add(jobs, (number, job) -> {});
        RowlockDrain.withoutSettling(
                trial, backlog, jobs, w -> w.queue("default", 32).keepCompleted(Duration.ZERO), (payload, job) -> {});
        return (position(trial) - before) / (double) jobs;
    }

    private static long position(Trial trial) throws SQLException {
        return trial.schema().count("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint");
    }
}
