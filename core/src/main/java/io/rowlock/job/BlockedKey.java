package io.rowlock.job;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An ordering key whose jobs wait behind a dead one, as it was read.
 *
 * @param queue the queue
 * @param orderingKey the key
 * @param job the dead job that blocks it
 * @param kind its kind; null if it is gone, which workers notice by themselves
 * @param since when it died; null as kind
 * @param redacted whether it was redacted: then it cannot be revived, only skipped
 * @param waiting how many jobs wait behind it, counted up to 1,000
 */
public record BlockedKey(
        String queue,
        String orderingKey,
        long job,
        @Nullable String kind,
        @Nullable Instant since,
        boolean redacted,
        int waiting) {}
