package io.rowlock.internal.engine;

import io.rowlock.Rowlock;
import io.rowlock.alert.AlertLimits;
import io.rowlock.internal.alert.Alarms;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.Outbox;
import io.rowlock.testkit.cost.CostScene;
import io.rowlock.worker.WorkerConfig;
import io.rowlock.worker.WorkerSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The engine of one worker, of which each step is taken alone: claim, run the handlers, record what became of them. */
final class EngineByHand implements AutoCloseable {
    private static final Duration LONG = Duration.ofHours(1); // no sweep comes between, and no lease ends
    private static final String LIKE_A_WORKER =
            "-12345-6a1c2f3e-7b55"; // process and incarnation; it stands in each claimed row
    private static final int CONCURRENCY = 1_000;

    private final CostScene scene;
    private final Rowlock rowlock;
    private final Engine engine;
    private final List<Runnable> claimed = new ArrayList<>();

    private EngineByHand(CostScene scene, WorkerSettings settings) {
        this.scene = scene;
        this.rowlock = Rowlock.builder()
                .dataSource(scene.dataSource())
                .schema(scene.schema().name())
                .build();
        rowlock.schema().install();
        Ground ground = new Ground(
                scene.dataSource()::getConnection,
                new Names(scene.schema().name(), "rowlock_"),
                new JacksonCodec(),
                List.of(),
                new Events(List.of()),
                null,
                () -> {},
                jobs -> {},
                new Alarms(AlertLimits.none(), List.of(), Clock.systemUTC()));
        boolean delete = settings.retention().completed().isZero();
        Identity identity = new Identity(settings.name() + LIKE_A_WORKER, LONG, "x", delete, () -> false);
        this.engine = new Engine(ground, settings, identity, claimed::add, () -> {});
    }

    /** Installs the tables and puts an engine together, with handlers and a time for completed jobs. */
    static EngineByHand in(CostScene scene, Duration kept, Consumer<WorkerConfig> handlers) {
        WorkerConfig config = new WorkerConfig()
                .queue("default", CONCURRENCY)
                .lease(LONG)
                .poll(LONG)
                .keepCompleted(kept);
        handlers.accept(config);
        return new EngineByHand(scene, config.settings());
    }

    /** Something done in a transaction. */
    @FunctionalInterface
    interface Work {
        void in(Connection connection) throws Exception;
    }

    Outbox outbox() {
        return rowlock.outbox();
    }

    /** In a transaction of the application. */
    void commit(Work work) throws Exception {
        try (Connection connection = scene.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            work.in(connection);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    /** Claims what is due; nothing runs yet. */
    EngineByHand claim() throws SQLException {
        engine.claimer.step();
        return this;
    }

    /** Runs the handlers of what was claimed. */
    EngineByHand run() {
        List<Runnable> runs = List.copyOf(claimed);
        claimed.clear();
        runs.forEach(Runnable::run);
        return this;
    }

    /** Records what became of them. */
    void record() throws Exception {
        engine.completer.flush();
    }

    /** Until no job with an ordering key is left. */
    void drainKeyed() throws Exception {
        do {
            engine.claimer.keyedDue();
            claim();
            boolean some = !claimed.isEmpty();
            run().record();
            if (!some) {
                return;
            }
        } while (true);
    }

    /** Deletes all jobs. */
    void empty() throws SQLException {
        scene.schema()
                .execute("DELETE FROM rowlock_job_failure; DELETE FROM rowlock_job; DELETE FROM rowlock_key;"
                        + " DELETE FROM rowlock_alert");
    }

    @Override
    public void close() {
        engine.close();
    }
}
