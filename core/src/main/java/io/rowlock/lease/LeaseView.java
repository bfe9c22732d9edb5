package io.rowlock.lease;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A lease's row as it was read.
 *
 * @param name the lease
 * @param token the token it was taken under last
 * @param holder who holds it, or null: nobody, or it has run out
 * @param takenAt when it was taken last
 * @param expiresAt until when it is held, unless renewed; if free, since when it is
 */
public record LeaseView(String name, long token, @Nullable String holder, Instant takenAt, Instant expiresAt) {
    /**
     * Who holds it.
     *
     * @return empty: nobody
     */
    public Optional<String> heldBy() {
        return Optional.ofNullable(holder);
    }
}
