package io.rowlock.testkit.saga;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStarted;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.WorkerConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Drives sagas by hand, on the test's own thread, through the same statements as any worker: nothing happens between two
 * calls. What sagas wait for is jumped over instead of waited for: {@link #jump} makes the next attempt, the end of a sleep
 * or of a wait due now, {@link #jumpToDeadline} the end of the whole saga. Not safe for use by several threads, and for
 * tests only: it changes rows of sagas.
 *
 * <p>Steps of parallel branches run on threads of their own, as ever. No other worker should serve the same queue.
 */
public final class SagaDriver implements AutoCloseable {
    private final Rowlock rowlock;
    private final SagaEngine engine;
    private final HandCrankedWorker worker;
    private final Timers timers;

    private SagaDriver(Rowlock rowlock, SagaEngine engine, Consumer<WorkerConfig> more) {
        this.rowlock = rowlock;
        this.engine = engine;
        this.worker = rowlock.handCrankedWorker(config -> more.accept(engine.on(config)));
        this.timers = new Timers(rowlock.parts().schema(), rowlock.parts().prefix());
    }

    /**
     * Makes a driver that serves queue {@code default}.
     *
     * @param rowlock the Rowlock, with a data source; its tables are installed
     * @param engine the sagas, on that Rowlock
     * @return the driver, to be closed
     * @throws InvalidUseException if one is null
     * @throws RowlockException as {@link Rowlock#handCrankedWorker} does
     */
    public static SagaDriver of(Rowlock rowlock, SagaEngine engine) {
        return of(rowlock, engine, worker -> {});
    }

    /**
     * Makes a driver that does more than sagas.
     *
     * @param rowlock the Rowlock, with a data source; its tables are installed
     * @param engine the sagas, on that Rowlock
     * @param more adds queues, such as that of the engine if it is not {@code default}, and handlers of other jobs
     * @return the driver, to be closed
     * @throws InvalidUseException if one is null
     * @throws RowlockException as {@link Rowlock#handCrankedWorker} does
     */
    public static SagaDriver of(Rowlock rowlock, SagaEngine engine, Consumer<WorkerConfig> more) {
        if (rowlock == null || engine == null || more == null) {
            throw new InvalidUseException(
                    "A driver of sagas needs a Rowlock, an engine and what more to do; one is null");
        }
        return new SagaDriver(rowlock, engine, more);
    }

    /**
     * Starts a saga in a transaction of its own. It does not run yet.
     *
     * @param type the saga's name and state
     * @param id its id
     * @param state its first state
     * @param <S> the saga's state
     * @return whether it is new
     * @throws RowlockException as {@code Sagas.start} does
     */
    public <S> SagaStarted start(SagaType<S> type, String id, S state) {
        return inTransaction(connection -> engine.sagas().start(connection, type, id, state));
    }

    /**
     * Tells a saga of an outside event, in a transaction of its own, and brings it: runs whatever is due.
     *
     * @param signal the signal
     * @param target for which saga, or sagas
     * @param payload what it carries
     * @param <T> the type of that
     * @throws RowlockException as {@code Sagas.signal} and {@link #runAll} do
     */
    public <T> void signal(SagaSignal<T> signal, SagaTarget target, T payload) {
        inTransaction(connection -> {
            engine.sagas().signal(connection, signal, target, payload);
            return target;
        });
        runAll();
    }

    /**
     * Runs whatever is due, of all sagas and all other jobs of the driver, until nothing is: each saga has ended, waits, or
     * needs a person.
     *
     * @return how many attempts of jobs were run
     * @throws DatabaseException if the server refused a statement
     * @throws RowlockException if the thread is interrupted, or after 10,000 attempts
     */
    public int runAll() {
        return worker.drain();
    }

    /**
     * Runs whatever is due until nothing is, and tells how a saga stands then.
     *
     * @param id the saga
     * @return its timeline
     * @throws InvalidUseException if there is no such saga
     * @throws RowlockException as {@link #runAll} does
     */
    public SagaTimeline run(String id) {
        runAll();
        return timeline(id);
    }

    /**
     * Jumps to the next moment at which a saga would go on by itself (its next attempt, the end of a sleep, the end of a wait
     * for a signal), and runs it until it waits again or has ended. Where branches wait for several, the earliest alone is
     * jumped to.
     *
     * @param id the saga
     * @return its timeline then
     * @throws InvalidUseException if there is no such saga, or it waits for nothing that time brings, such as for a child
     * @throws DatabaseException if the server refused a statement
     * @throws RowlockException as {@link #runAll} does
     */
    public SagaTimeline jump(String id) {
        if (!inTransaction(connection -> timers.jump(connection, id))) {
            List<String> children = inTransaction(connection -> timers.children(connection, id));
            throw new InvalidUseException("There is no time to jump to"
                    + (children.isEmpty() ? ": " : "; it waits for " + children + ", jump there: ") + describe(id));
        }
        return run(id);
    }

    /**
     * Jumps to the deadline of a saga, and runs it until it waits again or has ended.
     *
     * @param id the saga
     * @return its timeline then
     * @throws InvalidUseException if there is no such saga, or it has ended or no deadline
     * @throws DatabaseException if the server refused a statement
     * @throws RowlockException as {@link #runAll} does
     */
    public SagaTimeline jumpToDeadline(String id) {
        if (!inTransaction(connection -> timers.jumpToDeadline(connection, id))) {
            throw new InvalidUseException("There is no deadline to jump to: " + describe(id));
        }
        return run(id);
    }

    /**
     * What happened to a saga so far.
     *
     * @param id the saga
     * @return its timeline
     * @throws InvalidUseException if there is no such saga
     * @throws DatabaseException if the server refused a statement
     */
    public SagaTimeline timeline(String id) {
        return engine.operations().timeline(id).orElseThrow(() -> new InvalidUseException("There is no saga " + id));
    }

    private String describe(String id) {
        return engine.operations()
                .timeline(id)
                .map(timeline -> "\n" + timeline.toText())
                .orElse("there is no saga " + id);
    }

    @FunctionalInterface
    private interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    private <T> T inTransaction(Work<T> work) {
        try (Connection connection = rowlock.parts().connections().get()) {
            boolean before = connection.getAutoCommit();
            connection.setAutoCommit(false);
            try {
                T result = work.over(connection);
                connection.commit();
                return result;
            } finally {
                connection.rollback();
                connection.setAutoCommit(before);
            }
        } catch (SQLException e) {
            throw new DatabaseException("The driver's statement was refused", e);
        }
    }

    /** Gives its connections back; sagas stay as they are. */
    @Override
    public void close() {
        worker.close();
    }
}
