package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.testkit.postgres.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The same backlog, worked off by several worker processes at once. */
public final class Processes {
    private static final int JOBS = 200_000;
    private static final int WARM_UP = 40_000;
    private static final int MOST = 4;

    private Processes() {}

    /** One to four of them. */
    public static Figure drained() {
        return new Figure(
                        "processes",
                        "Drain of jobs that do nothing by one to four worker processes, completed rows deleted",
                        "jobs/s",
                        IntStream.rangeClosed(1, MOST)
                                .mapToObj(Processes::contender)
                                .toList(),
                        List.of(),
                        "Processes share the machine with PostgreSQL: beyond its cores more of them add nothing. What they may cost"
                                + " each other is seen where the figure falls: rows that another has just locked are stepped over.")
                .withoutWarmUp();
    }

    private static Contender contender(int processes) {
        String name = processes == 1 ? "1 process" : processes + " processes";
        return new Contender(
                name,
                "32 slots each, JVMs with -Xmx256m, warmed up on queues of their own",
                trial -> jobsPerSecond(trial, processes));
    }

    private static double jobsPerSecond(Trial trial, int processes) throws Exception {
        int jobs = trial.scaled(JOBS);
        Backlog backlog = Backlog.empty(trial);
        List<ChildJvm> children = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            children.add(Children.start(trial, DrainMain.class, String.valueOf(trial.scaled(WARM_UP))));
        }
        for (ChildJvm each : children) {
            each.awaitLine("ready", Duration.ofMinutes(5));
        }
        backlog.add(jobs, (number, job) -> {});
        trial.settle();
        Stopwatch watch = Stopwatch.started();
        children.forEach(each -> each.send("go"));
        double seconds = watch.until(() -> RowlockDrain.unfinished(trial) == 0);
        children.forEach(each -> each.send("stop"));
        for (ChildJvm each : children) {
            each.awaitExit(Duration.ofMinutes(1));
        }
        return jobs / seconds;
    }
}
