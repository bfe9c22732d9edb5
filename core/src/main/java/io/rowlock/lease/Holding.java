package io.rowlock.lease;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who held a lease when.
 *
 * @param token under which token
 * @param holder who
 * @param takenAt from when
 * @param endedAt until when; null: it is held, or has run out and nobody has taken it since
 * @param end how it ended; null as endedAt
 */
public record Holding(
        long token,
        String holder,
        Instant takenAt,
        @Nullable Instant endedAt,
        @Nullable End end) {

    /** How a holding ended. */
    public enum End {
        /** Given back by its holder. */
        RELEASED,
        /** It ran out, and another took it. */
        EXPIRED,
        /** A person took it away. */
        REVOKED,
        /** Its holder gave it up, as its work had not ended in time; that may go on for a while, and can write nothing. */
        ABANDONED
    }
}
