package io.rowlock.benchmark.load;

import io.rowlock.benchmark.peer.Dbos;
import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaRequest;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/** Sagas of five steps that do nothing, hundreds at a time. */
public final class FiveSteps {
    private static final int STEPS = 5;
    private static final int AT_A_TIME = 200;
    private static final int SAGAS = 10_000;
    private static final int BULK = 500;
    private static final int BULKERS = 4;
    private static final int STARTERS = 32;
    private static final String UNFINISHED =
            "SELECT count(*) FROM (SELECT FROM rowlock_saga WHERE status <> 'completed' LIMIT 1) one";
    private static final SagaType<State> TYPE = SagaType.named("five-steps", State.class);

    private FiveSteps() {}

    /** What a saga knows. */
    public record State(int number) {}

    /** Beside DBOS Transact. */
    public static Figure moved() {
        return new Figure(
                "sagas",
                "Sagas of five steps that do nothing, 200 at a time, from the first start to the last end",
                "steps/s",
                List.of(
                        new Contender(
                                        "Rowlock",
                                        "one worker, " + AT_A_TIME + " slots; started by " + BULKERS + " threads, "
                                                + BULK + " in a call and a transaction",
                                        trial -> stepsPerSecond(trial, new Start(BULKERS, BULK, false)))
                                .promising(
                                        "a step that ran and was not recorded runs again, with the same key; each step, its"
                                                + " attempts and the state are recorded, compensations too; a saga's start is part of"
                                                + " the caller's transaction; a dead process's sagas go on in another by themselves"
                                                + " when the lease ends"),
                        new Contender(
                                "Rowlock, started one by one",
                                "the same, but each saga started in a transaction of its own, by " + STARTERS
                                        + " threads",
                                trial -> stepsPerSecond(trial, new Start(STARTERS, 1, false))),
                        new Contender(
                                "Rowlock, started before",
                                "the same, but all sagas were started before the clock",
                                trial -> stepsPerSecond(trial, new Start(BULKERS, BULK, true))),
                        Dbos.steps(STEPS, AT_A_TIME)),
                List.of(
                        Reach.atLeast(10, "Rowlock", "DBOS Transact"),
                        Reach.atLeast(10, "Rowlock, started before", "DBOS Transact")),
                "Records of many sagas share a transaction, so that the disk is waited for seldom; what is left are the rows"
                        + " themselves: a step is an insert and an update, and each record writes the saga's state anew."
                        + " What starts them shares the machine: many in a call cost little, one by one each is two round trips and a"
                        + " commit for five steps.");
    }

    /** How sagas are started: by so many threads, so many in a transaction, and whether before the worker. */
    private record Start(int threads, int bulk, boolean before) {}

    private static double stepsPerSecond(Trial trial, Start start) throws Exception {
        int sagas = Math.max(AT_A_TIME, trial.scaled(SAGAS));
        Backlog backlog = Backlog.of(trial, 0, STARTERS + 8);
        LongAdder ended = new LongAdder();
        SagaEngine engine = SagaEngine.builder(backlog.rowlock())
                .register(definition(ended))
                .build();
        Worker worker = backlog.rowlock()
                .worker(w -> engine.on(w).queue("default", AT_A_TIME).keepCompleted(Duration.ZERO));
        if (start.before()) {
            start(backlog, engine, sagas, start);
        }
        trial.settle();
        Stopwatch watch = Stopwatch.started();
        worker.start();
        try {
            if (!start.before()) {
                start(backlog, engine, sagas, start);
                trial.also("s until all were started", watch.seconds());
            }
            return sagas * STEPS / watch.until(() -> ended.sum() >= sagas && trial.ask(UNFINISHED) == 0);
        } finally {
            worker.stop(Duration.ofSeconds(10));
        }
    }

    private static void start(Backlog backlog, SagaEngine engine, int sagas, Start start) throws Exception {
        ExecutorService starters = Executors.newFixedThreadPool(start.threads());
        try {
            int share = sagas / start.threads();
            List<Callable<Integer>> parts = new ArrayList<>();
            for (int i = 0; i < start.threads(); i++) {
                int from = i * share;
                int to = i == start.threads() - 1 ? sagas : from + share;
                parts.add(() -> start(backlog, engine, from, to, start.bulk()));
            }
            for (Future<Integer> each : starters.invokeAll(parts)) {
                each.get();
            }
        } finally {
            starters.shutdown();
        }
    }

    private static int start(Backlog backlog, SagaEngine engine, int from, int to, int bulk) throws SQLException {
        try (Connection connection = backlog.pool().getConnection()) {
            connection.setAutoCommit(false);
            for (int first = from; first < to; first += bulk) {
                List<SagaRequest<State>> sagas = new ArrayList<>();
                for (int number = first; number < Math.min(to, first + bulk); number++) {
                    sagas.add(SagaRequest.of(TYPE, "saga-" + number, new State(number)));
                }
                engine.sagas().startAll(connection, sagas);
                connection.commit();
            }
        }
        return to - from;
    }

    private static SagaDefinition<State> definition(LongAdder ended) {
        return saga -> {
            SagaSteps<State> steps = saga.named("five-steps", State.class).version(1);
            for (int i = 1; i < STEPS; i++) {
                steps = steps.step("step-" + i).call((state, step) -> state).noCompensation();
            }
            return steps.step("step-" + STEPS)
                    .call((state, step) -> {
                        ended.increment();
                        return state;
                    })
                    .noCompensation()
                    .build();
        };
    }
}
