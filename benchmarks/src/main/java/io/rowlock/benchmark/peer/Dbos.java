package io.rowlock.benchmark.peer;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** DBOS Transact for Java: durable workflows, called as methods. */
public final class Dbos {
    private static final int WORKFLOWS = 2_000;
    private static final int CONNECTIONS = 32;

    private Dbos() {}

    /**
     * Workflows of steps that do nothing.
     *
     * @param steps of each
     * @param atATime so many of them
     */
    public static Contender steps(int steps, int atATime) {
        return new Contender(
                        "DBOS Transact",
                        "workflows called directly by " + atATime + " threads, as its guide does; a pool of "
                                + CONNECTIONS + " connections, no admin server; it has no bulk start",
                        trial -> stepsPerSecond(trial, steps, atATime))
                .promising(
                        "a step that ran and was not recorded runs again; workflows and the outcomes of steps are recorded;"
                                + " a workflow's start is a transaction of its own; there are no compensations; a dead process's"
                                + " workflows go on when it is started again, or when its service is told to recover them elsewhere");
    }

    /** The workflow. */
    public interface Work {
        /** Runs the steps; gives their number. */
        int run(int number);
    }

    /** The workflow's body. */
    private static final class Steps implements Work {
        private final DBOS dbos;
        private final int steps;

        Steps(DBOS dbos, int steps) {
            this.dbos = dbos;
            this.steps = steps;
        }

        @Override
        @Workflow(name = "five-steps")
        public int run(int number) {
            int state = number;
            for (int i = 1; i <= steps; i++) {
                int before = state;
                state = dbos.runStep(() -> before, "step-" + i);
            }
            return state;
        }
    }

    private static double stepsPerSecond(Trial trial, int steps, int atATime) throws Exception {
        int workflows = Math.max(atATime, trial.scaled(WORKFLOWS));
        String schema = trial.schema().name();
        DBOS dbos = new DBOS(DBOSConfig.defaults("bench")
                .withDataSource(trial.pool(CONNECTIONS))
                .withDatabaseSchema(schema));
        ExecutorService callers = Executors.newFixedThreadPool(atATime);
        try {
            Work work = dbos.registerProxy(Work.class, new Steps(dbos, steps));
            dbos.launch();
            trial.settle();
            AtomicInteger next = new AtomicInteger();
            List<Future<?>> running = new ArrayList<>();
            long startedAt = System.nanoTime();
            for (int i = 0; i < atATime; i++) {
                running.add(callers.submit(() -> {
                    for (int number = next.getAndIncrement(); number < workflows; number = next.getAndIncrement()) {
                        work.run(number);
                    }
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            double seconds = (System.nanoTime() - startedAt) / 1e9;
            long recorded = trial.schema().count("SELECT count(*) FROM " + schema + ".operation_outputs");
            if (recorded != (long) workflows * steps) {
                throw new IllegalStateException("DBOS has recorded " + recorded + " steps");
            }
            return recorded / seconds;
        } finally {
            callers.shutdown();
            dbos.shutdown();
        }
    }
}
