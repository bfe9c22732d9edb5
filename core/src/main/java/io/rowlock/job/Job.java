package io.rowlock.job;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job's row as it was read, without its payload and headers: reading these is a permission of its own, see {@link
 * Jobs#content}.
 *
 * @param id the id
 * @param kind the kind's name
 * @param queue the queue
 * @param state the state; a ready job with an owner is being worked on
 * @param subject what it is about, or null
 * @param progress when it runs and how it went
 * @param lease who works on it
 */
public record Job(
        long id,
        String kind,
        String queue,
        JobState state,
        @Nullable String subject,
        Progress progress,
        Lease lease) {

    /**
     * What was written with a job.
     *
     * @param payload the payload as JSON text, exactly as it was written; {@code {}} where it was redacted
     * @param headers the headers, unmodifiable
     */
    public record Content(String payload, Map<String, String> headers) {
        public Content {
            headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        }
    }

    /**
     * When the job runs and how it went. All times are the database's.
     *
     * @param priority the priority
     * @param runAt when it is due
     * @param attempts claims that ran the handler so far
     * @param losses claims that ended by an expired lease
     * @param maxAttempts the job's own limit, or null: the handler's policy decides
     * @param lastError why the last attempt failed, or null
     * @param createdAt when the row was written, or its payload was replaced last
     * @param finishedAt when it reached a terminal state, or null
     */
    public record Progress(
            Priority priority,
            Instant runAt,
            int attempts,
            int losses,
            @Nullable Integer maxAttempts,
            @Nullable String lastError,
            Instant createdAt,
            @Nullable Instant finishedAt) {}

    /**
     * Who works on the job.
     *
     * @param owner the worker's incarnation, or null if nobody does
     * @param until when the lease runs out by the database's clock, or null
     * @param token the fencing number
     */
    public record Lease(@Nullable String owner, @Nullable Instant until, long token) {}
}
