package io.rowlock.operation;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a person or tool did, as its row was read. It was written in the transaction of what was done.
 *
 * @param id the id; later ones are higher
 * @param at when, by the database's clock
 * @param who who did it
 * @param why what was said
 * @param what what was done: {@code cancel}, {@code revive}, {@code pause} and so on, as the column's comment lists them; a newer
 *     version may have written others
 * @param on what it was done to
 */
public record Operation(long id, Instant at, String who, String why, String what, On on) {
    /**
     * What an operation was done to; mostly one of them. It may be gone.
     *
     * @param job the job, or the one that a schedule was made to run; or null
     * @param saga the saga, or null
     * @param step the step of the saga, or null
     * @param schedule the schedule, or null
     * @param queue the queue, or null
     * @param alert the alert, or null
     * @param lease the lease, or null
     * @param answers the stored answers, or null
     */
    public record On(
            @Nullable Long job,
            @Nullable String saga,
            @Nullable String step,
            @Nullable String schedule,
            @Nullable String queue,
            @Nullable Long alert,
            @Nullable String lease,
            @Nullable Answers answers) {}

    /**
     * Stored answers of requests under idempotency keys.
     *
     * @param principal whose
     * @param key under which key, or null: all of the principal
     */
    public record Answers(String principal, @Nullable String key) {}
}
