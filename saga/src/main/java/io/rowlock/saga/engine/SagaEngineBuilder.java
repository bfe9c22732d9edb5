package io.rowlock.saga.engine;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.InvalidSagaException;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.internal.engine.Definitions;
import io.rowlock.saga.internal.engine.Engine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts a {@link SagaEngine} together. Setting one thing twice is an error. For one thread. */
public final class SagaEngineBuilder {
    private final Rowlock rowlock;
    private final List<Saga<?>> sagas = new ArrayList<>();
    private @Nullable String queue;
    private @Nullable Duration keepFinished;

    SagaEngineBuilder(Rowlock rowlock) {
        this.rowlock = rowlock;
    }

    /**
     * Registers a definition. Several versions of one saga may be registered: running ones stay on theirs, new ones begin
     * with the newest. Definitions that are not registered anywhere leave their sagas waiting. The definitions of a saga's
     * children must be registered beside it, even where other processes move them: whoever moves the parent starts them.
     *
     * @param definition the definition
     * @return this
     * @throws InvalidSagaException if it has mistakes; it names all of them
     * @throws InvalidUseException if it is null, or this name and version is registered already
     */
    public SagaEngineBuilder register(SagaDefinition<?> definition) {
        sagas.add(Saga.of(definition));
        new Definitions(sagas); // tells what is registered twice
        return this;
    }

    /**
     * The queue of the jobs that drive sagas and deliver signals.
     *
     * @param name 1 to 200 characters; {@code default} by default
     * @return this
     * @throws InvalidUseException if not allowed or set twice
     */
    public SagaEngineBuilder queue(String name) {
        if (name == null || name.isBlank() || name.length() > 200) {
            throw new InvalidUseException("queue must have 1 to 200 characters, got " + name);
        }
        if (queue != null) {
            throw new InvalidUseException("queue is set twice");
        }
        queue = name;
        return this;
    }

    /**
     * How long finished sagas are kept, with their steps and signals.
     *
     * @param retention 1 minute to 100 years; 30 days by default
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public SagaEngineBuilder keepFinished(Duration retention) {
        if (retention == null || retention.compareTo(Duration.ofMinutes(1)) < 0 || retention.toDays() > 36_525) {
            throw new InvalidUseException("keepFinished must be between 1 minute and 100 years, got " + retention);
        }
        if (keepFinished != null) {
            throw new InvalidUseException("keepFinished is set twice");
        }
        keepFinished = retention;
        return this;
    }

    /**
     * Puts it together. Sends no SQL.
     *
     * @return the engine
     * @throws InvalidUseException if no definition was registered, a kind that starts one stands for another payload type, or
     *     the newest version of a child is not registered or has another state class than its parent says; it names all such
     *     children
     */
    public SagaEngine build() {
        if (sagas.isEmpty()) {
            throw new InvalidUseException("No saga is registered: call register(definition)");
        }
        return buildForTools();
    }

    SagaEngine buildForTools() {
        Definitions definitions = new Definitions(sagas);
        definitions.requireChildren();
        return new SagaEngine(
                rowlock,
                definitions,
                new Engine.Settings(
                        queue == null ? "default" : queue, keepFinished == null ? Duration.ofDays(30) : keepFinished));
    }
}
