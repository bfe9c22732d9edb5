package io.rowlock.benchmark.load;

import io.rowlock.benchmark.peer.DbScheduler;
import io.rowlock.benchmark.peer.GraphileWorker;
import io.rowlock.benchmark.peer.JobRunr;
import io.rowlock.benchmark.peer.Quartz;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import java.time.Duration;
import java.util.List;

/** Jobs that do nothing are worked off by one worker. */
public final class Drains {
    private static final int JOBS = 200_000;
    private static final int SLOTS = 32;

    private Drains() {}

    /** Completed rows are deleted at once; beside peers. */
    public static Figure deleted() {
        return new Figure(
                "drain",
                "Drain of jobs that do nothing by one worker, completed rows deleted",
                "jobs/s",
                List.of(
                        rowlock(true),
                        floor(true),
                        DbScheduler.drain(),
                        JobRunr.drain(),
                        Quartz.drain(),
                        GraphileWorker.drain()),
                List.of(
                        Reach.atLeast(0.6, "Rowlock", "bare loop"),
                        Reach.atLeast(10, "Rowlock", "db-scheduler"),
                        Reach.atLeast(25, "Rowlock", "JobRunr"),
                        Reach.atLeast(2, "Rowlock", "graphile-worker")),
                "Rowlock is limited by the two cores that PostgreSQL and the JVM share; a claim and a completion of 500 rows"
                        + " each are its only statements.");
    }

    /** Completed rows stay. */
    public static Figure kept() {
        return new Figure(
                "drain-kept",
                "Drain of jobs that do nothing by one worker, completed rows kept",
                "jobs/s",
                List.of(rowlock(false), floor(false)),
                List.of(Reach.atLeast(0.55, "Rowlock", "bare loop")),
                "An update of the state writes new entries into the indexes of ready and of finished rows.");
    }

    private static Contender rowlock(boolean delete) {
        Duration retention = delete ? Duration.ZERO : Duration.ofHours(24);
        return new Contender(
                        "Rowlock", SLOTS + " slots, platform threads, claims and completions of up to 500", trial -> {
                            int jobs = trial.scaled(JOBS);
                            return RowlockDrain.jobsPerSecond(
                                    trial,
                                    Backlog.of(trial, jobs),
                                    jobs,
                                    w -> w.queue("default", SLOTS).keepCompleted(retention));
                        })
                .promising(
                        "at least once; a late worker's outcome is refused by a token; attempts are counted when claimed, so"
                                + " that a job that kills its process ends as a dead letter; a dead worker's jobs run again when their"
                                + " lease ends, 60 s at most");
    }

    private static Contender floor(boolean delete) {
        return new Contender(
                        "bare loop",
                        "the same two statements, 500 rows each, one after the other on one connection",
                        trial -> BareLoop.jobsPerSecond(trial, trial.scaled(JOBS), delete))
                .promising("nothing: it is the floor, without handlers, heartbeats or recovery");
    }
}
