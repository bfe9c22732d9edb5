package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Where a page of jobs ended: the next one begins behind it. Immutable; may be kept as a time and a number.
 *
 * @param finishedAt of a query by the time of the end: when the last job that was looked at ended; else null
 * @param id its id
 */
public record JobCursor(@Nullable Instant finishedAt, long id) {
    /**
     * Checks the id.
     *
     * @throws InvalidUseException if no job can have it
     */
    public JobCursor {
        if (id < 1) {
            throw new InvalidUseException("The id of a cursor must be at least 1, got " + id);
        }
    }
}
