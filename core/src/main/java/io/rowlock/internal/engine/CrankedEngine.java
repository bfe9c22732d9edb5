package io.rowlock.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.RowlockException;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.schedule.RowSchedules;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.WorkerSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

/** The same engine without threads: the caller's thread claims one job, runs its handler and records the outcome. */
public final class CrankedEngine implements HandCrankedWorker {
    private static final int MOST = 10_000;

    private final Engine engine;
    private final Extensions extensions;

    public CrankedEngine(Ground ground, JdbcSchema schema, RowSchedules schedules, WorkerSettings settings) {
        String owner = settings.name() + "-by-hand-" + UUID.randomUUID();
        this.extensions = new Extensions(settings.extensions(), owner, ground.events());
        Identity identity = new Identity(
                owner,
                settings.timing().lease(),
                start(ground, schema, schedules, settings),
                settings.retention().completed().isZero(),
                () -> false);
        this.engine = new Engine(ground, settings, identity, Runnable::run, () -> {});
    }

    /** Checks the tables, declares schedules, starts extensions, and gives the installation's name. */
    private String start(Ground ground, JdbcSchema schema, RowSchedules schedules, WorkerSettings settings) {
        boolean started = false;
        try (Connection connection = ground.connections().get()) {
            schema.validate(connection);
            String installation = schema.installation(connection);
            schedules.declare(connection, settings.schedules());
            extensions.start(connection);
            started = true;
            return installation;
        } catch (SQLException e) {
            DatabaseException lasting = StartRefusal.lasting(e);
            throw lasting != null ? lasting : new DatabaseException("The database cannot be used yet", e);
        } finally {
            if (!started) {
                extensions.stop();
            }
        }
    }

    @Override
    public boolean runNext() {
        if (Thread.currentThread().isInterrupted()) {
            throw new RowlockException("Interrupted: no further job is run by hand");
        }
        return perform(() -> {
            engine.cancelRequests.step();
            boolean ran = engine.claimer.stepOne();
            if (!ran && engine.scheduler.fireAllDue()) {
                ran = engine.claimer.stepOne();
            }
            if (!ran && engine.alerter.tellAll()) {
                ran = engine.claimer.stepOne();
            }
            engine.completer.flush();
            if (!ran) {
                engine.freeUnusedLimits();
            }
            return ran;
        });
    }

    @Override
    public int drain() {
        int attempts = 0;
        while (runNext()) {
            attempts++;
            if (attempts == MOST) {
                throw new RowlockException("drain() ended after " + MOST
                        + " attempts with jobs still due: a job seems to write itself again for ever");
            }
        }
        return attempts;
    }

    @Override
    public int bringForward() {
        return perform(() -> engine.claimer.bringForward(MOST));
    }

    @FunctionalInterface
    private interface Work<T> {
        T perform() throws SQLException, InterruptedException;
    }

    private static <T> T perform(Work<T> work) {
        try {
            return work.perform();
        } catch (SQLException e) {
            throw new DatabaseException("The worker's statement was refused", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RowlockException("Interrupted while a job was run by hand", e);
        }
    }

    @Override
    public void close() {
        engine.freeLimits();
        extensions.stop();
        engine.close();
    }
}
