package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Engine.Ground;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.worker.WorkerSettings;
import java.sql.SQLException;

/**
 * The same engine without threads: the caller's thread claims one job, runs its handler and records the outcome. For
 * tests.
 */
public final class CrankedEngine implements AutoCloseable {
    private final Engine engine;

    public CrankedEngine(Ground ground, WorkerSettings settings, String owner, String installation) {
        Identity identity =
                new Identity(owner, installation, settings.completedRetention().isZero());
        this.engine = new Engine(ground, settings, identity, Runnable::run, () -> {});
    }

    /** Runs the next due job to its end; false if none is due. */
    public boolean runNext() throws SQLException, InterruptedException {
        boolean ran = engine.claimer.stepOne();
        engine.completer.flush();
        return ran;
    }

    @Override
    public void close() {
        engine.close();
    }
}
