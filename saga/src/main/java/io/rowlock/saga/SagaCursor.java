package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;

/**
 * Where a page of sagas ended: the next one begins behind it. Immutable; may be kept as two texts.
 *
 * @param createdAt when the last saga that was looked at was started
 * @param id its id
 */
public record SagaCursor(Instant createdAt, String id) {
    /**
     * Checks both.
     *
     * @throws InvalidUseException if one is null
     */
    public SagaCursor {
        if (createdAt == null || id == null) {
            throw new InvalidUseException("A cursor needs a time and an id, got " + createdAt + " and " + id);
        }
    }
}
