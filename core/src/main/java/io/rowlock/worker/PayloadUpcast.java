package io.rowlock.worker;

import java.util.function.Function;
import java.util.function.UnaryOperator;

/** How a payload that one version of a kind wrote becomes one of the next version, as {@link HandlerConfig} said. */
public sealed interface PayloadUpcast {
    /**
     * The older version; what comes out is of the version after it.
     *
     * @return at least 1
     */
    int fromVersion();

    /**
     * From text to text.
     *
     * @param fromVersion the older version
     * @param json makes the JSON of the next version of that of the older one
     */
    record OfJson(int fromVersion, UnaryOperator<String> json) implements PayloadUpcast {}

    /**
     * From an object to an object, which the codec reads and writes.
     *
     * @param <O> the older payload
     * @param fromVersion the older version
     * @param oldType the class of the older payload
     * @param payload makes a payload of the next version of the older one
     */
    record OfType<O>(int fromVersion, Class<O> oldType, Function<O, ?> payload) implements PayloadUpcast {}
}
