package io.rowlock.saga.engine;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.Sagas;
import io.rowlock.saga.internal.engine.Definitions;
import io.rowlock.saga.internal.engine.Engine;
import io.rowlock.worker.WorkerConfig;

/**
 * Sagas on one Rowlock: the definitions that were registered, the door through which applications start them, and what
 * workers need to move them. Make one per Rowlock and keep it. Holds no connection and no thread; workers do. Safe for use
 * by many threads.
 */
public final class SagaEngine {
    private final Engine engine;

    SagaEngine(Rowlock rowlock, Definitions definitions, Engine.Settings settings) {
        this.engine = new Engine(rowlock, definitions, settings);
    }

    /**
     * Begins to put one together.
     *
     * @param rowlock the database, and the outbox
     * @return an empty builder
     * @throws InvalidUseException if null
     */
    public static SagaEngineBuilder builder(Rowlock rowlock) {
        if (rowlock == null) {
            throw new InvalidUseException("Sagas need a Rowlock, got null");
        }
        return new SagaEngineBuilder(rowlock);
    }

    /**
     * Sagas without a definition, for tools that run beside the application. What a person does to sagas works as elsewhere;
     * what needs a definition is refused (starts, new states, forks) or left out (charts). Not for workers.
     *
     * @param rowlock the database, and the outbox
     * @param queue the queue that the application's engine was built with; {@code default} where it said nothing
     * @return an engine with nothing registered
     * @throws InvalidUseException if null, or the name is not allowed
     */
    public static SagaEngine withoutDefinitions(Rowlock rowlock, String queue) {
        return builder(rowlock).queue(queue).buildForTools();
    }

    /**
     * The door for applications.
     *
     * @return starts, signals, operations
     */
    public Sagas sagas() {
        return engine.sagas();
    }

    /**
     * The door for people and their tools.
     *
     * @return searches, timelines, retries and what else a person does to sagas
     */
    public SagaOperations operations() {
        return engine.operations();
    }

    /**
     * Lets a worker move the registered sagas, deliver signals to all, and start sagas by jobs. The worker needs one
     * connection more than others. It must serve the engine's queue.
     *
     * @param worker the worker's configuration, as {@code Rowlock.worker} gives it
     * @return that configuration
     * @throws InvalidUseException if null, or one of the kinds has a handler already
     */
    public WorkerConfig on(WorkerConfig worker) {
        if (worker == null) {
            throw new InvalidUseException("The worker that is to move sagas must not be null");
        }
        engine.on(worker);
        return worker;
    }
}
