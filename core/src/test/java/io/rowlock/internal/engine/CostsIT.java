package io.rowlock.internal.engine;

import io.rowlock.job.JobHandler;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.testkit.cost.Cost;
import io.rowlock.testkit.cost.CostBudget;
import io.rowlock.testkit.cost.CostScene;
import io.rowlock.testkit.cost.CostServer;
import io.rowlock.worker.WorkerConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What a job costs the database, counted and held against {@code costs.txt}. The engine is stepped by hand, so that each step
 * is counted alone; a worker takes the same steps.
 */
@Tag("P14")
final class CostsIT {
    private static final int BATCH = 200;
    private static final int SINGLES = 100;
    private static final int BULK = 1_000;
    private static final int KEYS = 50;
    private static final Duration DELETED = Duration.ZERO;
    private static final Duration KEPT = Duration.ofHours(24);

    @Kind("noop")
    record Noop(String text) {
        static final Noop ONE = new Noop("forty bytes, with the name and quotes");
    }

    private final List<Cost> found = new ArrayList<>();

    @Test
    void each_scene_costs_its_budget_and_no_less() throws Exception {
        try (CostServer server = CostServer.start()) {
            enqueue(server);
            claim(server, "claim", "worker");
            claim(server, "claim-by-a-long-name", "billing-worker-of-the-accounting-department-in-europe-1");
            complete(server, "complete-and-delete", DELETED);
            complete(server, "complete-and-keep", KEPT);
            end(server, "retry", job -> {
                throw untraced(new IllegalStateException("not yet"));
            });
            end(server, "dead", job -> {
                throw untraced(new PermanentFailure("never"));
            });
            transactional(server);
            ordered(server);
        }
        CostBudget.of(Path.of("costs.txt")).check(found);
    }

    private void enqueue(CostServer server) throws Exception {
        try (CostScene scene = server.scene("enqueue-one")) {
            EngineByHand engine = EngineByHand.in(scene, DELETED, leased(job -> {}));
            scene.ofRepetitions().after(engine::empty);
            found.add(scene.measure(SINGLES, "jobs", () -> {
                for (int i = 0; i < SINGLES; i++) {
                    engine.commit(connection -> engine.outbox().enqueue(connection, Noop.ONE));
                }
            }));
        }
        bulk(server, "enqueue-bulk", BULK, (number, job) -> {});
        bulk(server, "enqueue-with-dedup-keys", BATCH, (number, job) -> job.dedupKey("key-" + number));
    }

    private void bulk(CostServer server, String name, int jobs, BiConsumer<Integer, JobOptions> options)
            throws Exception {
        try (CostScene scene = server.scene(name)) {
            EngineByHand engine = EngineByHand.in(scene, DELETED, leased(job -> {}));
            scene.after(engine::empty);
            found.add(scene.measure(
                    jobs,
                    "jobs",
                    () -> engine.commit(
                            connection -> engine.outbox().enqueueAll(connection, requests(jobs, options)))));
        }
    }

    private void claim(CostServer server, String name, String worker) throws Exception {
        try (CostScene scene = server.scene(name);
                EngineByHand engine =
                        EngineByHand.in(scene, DELETED, leased(job -> {}).andThen(config -> config.name(worker)))) {
            scene.before(() -> write(engine, BATCH)).after(() -> engine.run().record());
            found.add(scene.measure(BATCH, "jobs", engine::claim));
        }
    }

    private void complete(CostServer server, String name, Duration kept) throws Exception {
        try (CostScene scene = server.scene(name);
                EngineByHand engine = EngineByHand.in(scene, kept, leased(job -> {}))) {
            scene.before(() -> {
                        write(engine, BATCH);
                        engine.claim().run();
                    })
                    .after(engine::empty);
            found.add(scene.measure(BATCH, "jobs", engine::record));
        }
    }

    private void end(CostServer server, String name, Consumer<Noop> handler) throws Exception {
        try (CostScene scene = server.scene(name);
                EngineByHand engine = EngineByHand.in(scene, DELETED, leased(handler))) {
            scene.before(() -> {
                        write(engine, BATCH);
                        engine.claim().run();
                    })
                    .after(engine::empty);
            found.add(scene.measure(BATCH, "jobs", engine::record));
        }
    }

    /** From the claim on to the verdict: the handler's transaction, which writes nothing of its own. */
    private void transactional(CostServer server) throws Exception {
        try (CostScene scene = server.scene("transactional-handler");
                EngineByHand engine = EngineByHand.in(
                        scene,
                        DELETED,
                        config -> config.handleTransactionally(Noop.class, (noop, job, connection) -> {}))) {
            scene.ofRepetitions().before(() -> {
                write(engine, SINGLES);
                engine.claim();
            });
            found.add(scene.measure(SINGLES, "jobs", () -> engine.run().record()));
        }
    }

    /** Claimed and completed: four jobs in each of fifty keys. */
    private void ordered(CostServer server) throws Exception {
        try (CostScene scene = server.scene("ordering-keys");
                EngineByHand engine = EngineByHand.in(scene, DELETED, leased(job -> {}))) {
            scene.before(() -> engine.commit(connection -> engine.outbox()
                            .enqueueAll(
                                    connection,
                                    requests(BATCH, (number, job) -> job.orderingKey("key-" + number % KEYS)))))
                    .after(engine::empty);
            found.add(scene.measure(BATCH, "jobs", engine::drainKeyed));
        }
    }

    private static Consumer<WorkerConfig> leased(Consumer<Noop> handler) {
        JobHandler<Noop> plain = (noop, job) -> handler.accept(noop);
        return config -> config.handle(Noop.class, plain);
    }

    /** What is kept of a failure holds its stack trace, which is as long as the way here. */
    private static <E extends RuntimeException> E untraced(E failure) {
        failure.setStackTrace(new StackTraceElement[0]);
        return failure;
    }

    private static void write(EngineByHand engine, int jobs) throws Exception {
        engine.commit(connection -> engine.outbox().enqueueAll(connection, requests(jobs, (number, job) -> {})));
    }

    private static List<JobRequest<?>> requests(int jobs, BiConsumer<Integer, JobOptions> options) {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            int number = i;
            requests.add(JobRequest.of(Noop.ONE, job -> options.accept(number, job)));
        }
        return requests;
    }
}
