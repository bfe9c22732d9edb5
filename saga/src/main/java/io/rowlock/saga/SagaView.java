package io.rowlock.saga;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A saga as people see it, read at one moment. Immutable.
 *
 * @param id the id it was started under
 * @param definition what it is
 * @param keys how else it is found
 * @param status how it stands
 * @param course how far it is, and why it does not go on
 * @param times when
 * @param driver the job that drives it; null if it is finished or needs a person
 * @param state its state as JSON; null in a page of a search
 */
public record SagaView(
        String id,
        Definition definition,
        Keys keys,
        SagaStatus status,
        Course course,
        Times times,
        @Nullable Driver driver,
        @Nullable String state) {

    /**
     * The definition it keeps.
     *
     * @param name its name
     * @param version its version
     */
    public record Definition(String name, int version) {}

    /**
     * Names besides its id; each may be null.
     *
     * @param businessKey its name in the business
     * @param subject what it is about
     * @param parent the saga that waits for it
     */
    public record Keys(
            @Nullable String businessKey,
            @Nullable String subject,
            @Nullable String parent) {}

    /**
     * How far it is.
     *
     * @param step the step that moved last; null before the first and once it is finished
     * @param pivoted whether its pivot has started: then it only goes forward
     * @param reason why it is compensated, stuck or resolved; or null
     * @param cancel by whom and why a cancel was asked for; or null
     */
    public record Course(
            @Nullable String step,
            boolean pivoted,
            @Nullable String reason,
            @Nullable String cancel) {}

    /**
     * By the database's clock.
     *
     * @param created when it was started
     * @param updated when it was recorded last
     * @param finished when it finished; or null
     * @param deadline when it is to have ended; or null
     */
    public record Times(
            Instant created,
            Instant updated,
            @Nullable Instant finished,
            @Nullable Instant deadline) {}

    /**
     * The job that drives it.
     *
     * @param job its id
     * @param due when it goes on, or went on
     * @param worker the worker that has it now; null if none has
     */
    public record Driver(long job, Instant due, @Nullable String worker) {}
}
