package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;

/**
 * A kind of outside event that sagas wait for: its stable name, which is what rows store (promise P13), and the type of
 * what it carries. Immutable and safe for use by many threads; keep it in a constant.
 *
 * @param <T> the type of what the signal carries
 * @param name the name written to the row: 1 to 200 characters, not blank, no control characters
 * @param payloadType the class its payload is read back as; it is never stored
 */
public record SagaSignal<T>(String name, Class<T> payloadType) {

    public SagaSignal {
        Names.refuse("The name of a signal", name);
        if (payloadType == null) {
            throw new InvalidUseException("A signal needs a payload type, got null (signal=" + name + ")");
        }
    }

    /**
     * Names a signal.
     *
     * @param name the signal's name
     * @param payloadType the class its payload is read back as
     * @param <T> that type
     * @return the signal
     * @throws InvalidUseException if the name is not allowed or the type is null
     */
    public static <T> SagaSignal<T> named(String name, Class<T> payloadType) {
        return new SagaSignal<>(name, payloadType);
    }
}
