package io.rowlock.cli;

import io.rowlock.job.By;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the commands ask of alerts. */
interface AlertDoor {
    /** Open alerts, of a kind or of all, behind an id or from the first one; at most so many. */
    List<OpenAlert> open(@Nullable String kind, @Nullable Long after, int most);

    /** True if it was open. */
    boolean acknowledge(long id, By by);

    /**
     * An alert that nobody has taken over.
     *
     * @param job the last job it happened to, or null
     */
    record OpenAlert(
            long id,
            String cause,
            String kind,
            long count,
            Instant lastAt,
            @Nullable Long job,
            String reason) {}
}
