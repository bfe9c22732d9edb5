package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import org.jspecify.annotations.Nullable;

/**
 * Which saga a signal is for. Immutable.
 *
 * @param id the id it was started under, or null
 * @param businessKey the business key it was started under, or null; one of the two is given
 */
public record SagaTarget(@Nullable String id, @Nullable String businessKey) {
    public SagaTarget {
        if ((id == null) == (businessKey == null)) {
            throw new InvalidUseException("A signal is for a saga's id or for a business key: give one of the two");
        }
        Names.refuse(id == null ? "A business key" : "The id of a saga", id == null ? businessKey : id);
    }

    /**
     * The saga of this id.
     *
     * @param id the id it was, or will be, started under
     * @return the target
     * @throws InvalidUseException if the id is not allowed
     */
    public static SagaTarget saga(String id) {
        return new SagaTarget(id, null);
    }

    /**
     * All unfinished sagas, of whatever name, that were started under this key.
     *
     * @param key the key
     * @return the target
     * @throws InvalidUseException if the key is not allowed
     */
    public static SagaTarget businessKey(String key) {
        return new SagaTarget(null, key);
    }
}
