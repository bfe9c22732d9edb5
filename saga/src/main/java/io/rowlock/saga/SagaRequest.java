package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.util.function.Consumer;

/**
 * One saga to be started among many: which, under what id, with what state.
 *
 * @param <S> the saga's state
 * @param type the saga's name and state
 * @param id 1 to 200 characters, unique among all sagas
 * @param state its first state
 * @param options what else is said of it
 */
public record SagaRequest<S>(SagaType<S> type, String id, S state, SagaStartOptions options) {
    public SagaRequest {
        if (type == null || id == null || state == null || options == null) {
            throw new InvalidUseException("A saga to start needs a type, an id, a state and options, got type=" + type
                    + ", id=" + id + ", state " + (state == null ? "null" : "given") + ", options "
                    + (options == null ? "null" : "given"));
        }
    }

    /**
     * A saga of which nothing more is said.
     *
     * @param type the saga's name and state
     * @param id 1 to 200 characters, unique among all sagas
     * @param state its first state
     * @param <S> the saga's state
     * @return the request
     * @throws InvalidUseException if anything is null
     */
    public static <S> SagaRequest<S> of(SagaType<S> type, String id, S state) {
        return of(type, id, state, options -> {});
    }

    /**
     * A saga of which more is said.
     *
     * @param type the saga's name and state
     * @param id 1 to 200 characters, unique among all sagas
     * @param state its first state
     * @param options says what the saga is about
     * @param <S> the saga's state
     * @return the request
     * @throws InvalidUseException if anything is null or not allowed
     */
    public static <S> SagaRequest<S> of(SagaType<S> type, String id, S state, Consumer<SagaStartOptions> options) {
        if (options == null) {
            throw new InvalidUseException("The options of a start must not be null; leave them out (saga=" + id + ")");
        }
        SagaStartOptions said = new SagaStartOptions();
        options.accept(said);
        return new SagaRequest<>(type, id, state, said);
    }
}
