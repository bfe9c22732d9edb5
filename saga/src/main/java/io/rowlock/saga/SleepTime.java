package io.rowlock.saga;

import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;

/**
 * How long a saga sleeps. The database's clock decides when it is over (promise P7).
 *
 * @param <S> the saga's state
 */
public sealed interface SleepTime<S> {
    /**
     * Always the same.
     *
     * @param <S> the saga's state
     * @param duration 1 ms to 100 years
     */
    record Fixed<S>(Duration duration) implements SleepTime<S> {}

    /**
     * As the state says when the sleep begins.
     *
     * @param <S> the saga's state
     * @param duration gives the length; zero or less means no sleep
     */
    record Computed<S>(Function<S, Duration> duration) implements SleepTime<S> {}

    /**
     * Until an instant of the state.
     *
     * @param <S> the saga's state
     * @param instant gives the instant; one in the past means no sleep
     */
    record Until<S>(Function<S, Instant> instant) implements SleepTime<S> {}
}
