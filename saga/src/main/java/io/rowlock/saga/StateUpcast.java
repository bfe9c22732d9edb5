package io.rowlock.saga;

import java.util.function.Function;

/**
 * How a state that an older version of a saga wrote becomes a state of this version.
 *
 * @param <O> the older state
 * @param <S> the saga's state
 * @param fromVersion the older version
 * @param stateType the class of the older state
 * @param state makes the new state of the old
 */
public record StateUpcast<O, S>(int fromVersion, Class<O> stateType, Function<O, S> state) {}
