package io.rowlock.saga.internal.sql;

import io.rowlock.saga.SagaStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A saga as its row says. */
public record SagaRow(
        String id,
        Origin origin,
        SagaStatus status,
        String state,
        Progress progress,
        Wishes wishes,
        @Nullable Long driver) {

    /**
     * What it was started as.
     *
     * @param headers a JSON object, or null
     */
    public record Origin(
            String name,
            int version,
            @Nullable String businessKey,
            @Nullable String subject,
            @Nullable String headers,
            @Nullable Parent parent) {}

    /** The step of another saga that waits for it. */
    public record Parent(String saga, String step) {}

    /**
     * How far it is.
     *
     * @param step where it stands
     * @param pivoted whether its pivot has started
     * @param ended how many steps have ended
     * @param reason why it is compensated, stuck or resolved
     */
    public record Progress(
            @Nullable String step,
            boolean pivoted,
            int ended,
            @Nullable String reason) {}

    /**
     * What others want of it.
     *
     * @param cancel by whom and why a cancel was asked for
     * @param deadline when it is to have ended
     * @param over whether that time is over, by the database's clock
     * @param told whether that was told
     */
    public record Wishes(@Nullable String cancel, @Nullable Instant deadline, boolean over, boolean told) {}
}
