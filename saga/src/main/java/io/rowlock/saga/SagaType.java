package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;

/**
 * Names a saga defined elsewhere, so that it can be started as a child: by name, never by its definition, so that parent
 * and child get new versions each on its own. Immutable and safe for use by many threads; keep it in a constant.
 *
 * @param <S> the saga's state
 * @param name the saga's name: 1 to 200 characters, not blank, no control characters
 * @param stateType the class of its state
 */
public record SagaType<S>(String name, Class<S> stateType) {

    public SagaType {
        Names.refuse("The name of a saga", name);
        if (stateType == null) {
            throw new InvalidUseException("A saga type needs the class of its state, got null (saga=" + name + ")");
        }
    }

    /**
     * Names a saga.
     *
     * @param name the name its definition gives
     * @param stateType the class of its state
     * @param <S> that class
     * @return the type
     * @throws InvalidUseException if the name is not allowed or the class is null
     */
    public static <S> SagaType<S> named(String name, Class<S> stateType) {
        return new SagaType<>(name, stateType);
    }
}
