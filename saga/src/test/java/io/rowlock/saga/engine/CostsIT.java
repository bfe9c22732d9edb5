package io.rowlock.saga.engine;

import io.rowlock.Rowlock;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaRequest;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.cost.Cost;
import io.rowlock.testkit.cost.CostBudget;
import io.rowlock.testkit.cost.CostScene;
import io.rowlock.testkit.cost.CostServer;
import io.rowlock.worker.HandCrankedWorker;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a saga costs the database, counted and held against {@code costs.txt}. A step is what a saga of ten steps costs more
 * than one of five, so that how a worker cranked by hand looks for jobs is not in it. Each saga is alone: in a worker, what
 * many sagas record at the same time is one commit.
 */
@Tag("P14")
final class CostsIT {
    private static final int SAGAS = 10;
    private static final int IN_A_CALL = 200;
    private static final int FEW = 5;
    private static final int MANY = 10;
    private static final SagaType<String> CHAIN = SagaType.named("chain", String.class);

    private final List<Cost> found = new ArrayList<>();
    private int started = 100_000; // ids of one length

    @Test
    void each_scene_costs_its_budget_and_no_less() throws Exception {
        try (CostServer server = CostServer.start()) {
            start(server);
            startMany(server);
            step(server, "step", false);
            step(server, "step-and-its-undo", true);
        }
        CostBudget.of(Path.of("costs.txt")).check(found);
    }

    private void start(CostServer server) throws Exception {
        try (CostScene scene = server.scene("start")) {
            SagaEngine engine = engine(scene, chain(FEW, false));
            scene.ofRepetitions().after(() -> empty(scene));
            found.add(scene.measure(SAGAS, "sagas", () -> start(scene, engine)));
        }
    }

    private void startMany(CostServer server) throws Exception {
        try (CostScene scene = server.scene("start-many")) {
            SagaEngine engine = engine(scene, chain(FEW, false));
            scene.ofRepetitions().after(() -> empty(scene));
            found.add(scene.measure(IN_A_CALL, "sagas", () -> startMany(scene, engine)));
        }
    }

    private void step(CostServer server, String name, boolean undone) throws Exception {
        Cost few = driven(server, FEW, undone);
        Cost many = driven(server, MANY, undone);
        found.add(many.beyond(few, name, (long) SAGAS * (MANY - FEW), "steps"));
    }

    private Cost driven(CostServer server, int steps, boolean undone) throws Exception {
        try (CostScene scene = server.scene("driven")) {
            Rowlock rowlock = rowlock(scene);
            SagaEngine engine = engine(rowlock, chain(steps, undone));
            try (HandCrankedWorker worker = rowlock.handCrankedWorker(engine::on)) {
                scene.ofRepetitions().before(() -> start(scene, engine)).after(() -> empty(scene));
                return scene.measure(SAGAS, "sagas", worker::drain);
            }
        }
    }

    private void start(CostScene scene, SagaEngine engine) throws Exception {
        for (int i = 0; i < SAGAS; i++) {
            try (Connection connection = scene.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                engine.sagas().start(connection, CHAIN, "saga-" + started++, "state");
                connection.commit();
                connection.setAutoCommit(true);
            }
        }
    }

    private void startMany(CostScene scene, SagaEngine engine) throws Exception {
        List<SagaRequest<String>> sagas = new ArrayList<>();
        for (int i = 0; i < IN_A_CALL; i++) {
            sagas.add(SagaRequest.of(CHAIN, "saga-" + started++, "state"));
        }
        try (Connection connection = scene.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            engine.sagas().startAll(connection, sagas);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private static void empty(CostScene scene) throws Exception {
        scene.schema().execute("DELETE FROM rowlock_saga_step; DELETE FROM rowlock_saga; DELETE FROM rowlock_job");
    }

    private static SagaEngine engine(CostScene scene, SagaDefinition<String> definition) {
        return engine(rowlock(scene), definition);
    }

    private static SagaEngine engine(Rowlock rowlock, SagaDefinition<String> definition) {
        rowlock.schema().install();
        return SagaEngine.builder(rowlock).register(definition).build();
    }

    private static Rowlock rowlock(CostScene scene) {
        return Rowlock.builder()
                .dataSource(scene.dataSource())
                .schema(scene.schema().name())
                .build();
    }

    /** Steps that do nothing; undone, they are followed by one that fails for good. */
    private static SagaDefinition<String> chain(int steps, boolean undone) {
        return saga -> {
            SagaSteps<String> chain = saga.named("chain", String.class).version(1);
            for (int i = 1; i <= steps; i++) {
                var step = chain.step("step-" + (10 + i)).call((state, call) -> state);
                chain = undone ? step.compensate((state, call) -> {}) : step.noCompensation();
            }
            if (undone) {
                chain = chain.step("last")
                        .call((state, call) -> {
                            throw untraced();
                        })
                        .noCompensation();
            }
            return chain.build();
        };
    }

    private static PermanentFailure untraced() {
        PermanentFailure failure = new PermanentFailure("never");
        failure.setStackTrace(new StackTraceElement[0]);
        return failure;
    }
}
