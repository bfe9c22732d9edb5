package io.rowlock.schedule;

import io.rowlock.job.Priority;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as its row says, without the payload of its jobs.
 *
 * @param name its name
 * @param revision the revision that counts
 * @param timing when, in words: {@code cron 0 2 * * * Europe/Berlin}, {@code every PT5M} or {@code delay PT1M}
 * @param kind the kind of its jobs
 * @param rules how its jobs are made
 * @param course where it stands
 */
public record ScheduleView(String name, int revision, String timing, String kind, Rules rules, Course course) {
    /**
     * How its jobs are made.
     *
     * @param misfire what becomes of missed instants
     * @param overlap what becomes of an instant at which the job before has not finished
     * @param queue the queue of the jobs
     * @param priority the priority of the jobs
     * @param subject what the jobs are about
     */
    public record Rules(Misfire misfire, Overlap overlap, String queue, Priority priority, String subject) {}

    /**
     * Where a schedule stands.
     *
     * @param nextAt the next instant; null: removed, or a fixed delay whose job has not finished
     * @param lastAt the last instant that made a job, or was to run by a person; null: none so far
     * @param lastJob the last job made, or with SKIP and a fixed delay one that was at work when a person ran the last; its row
     *     may be gone
     * @param pausedAt since when it is paused, or null
     * @param pausedBy who paused it, or null
     * @param removedAt since when it is removed, or null
     * @param error why it could not fire, or null
     */
    public record Course(
            @Nullable Instant nextAt,
            @Nullable Instant lastAt,
            @Nullable Long lastJob,
            @Nullable Instant pausedAt,
            @Nullable String pausedBy,
            @Nullable Instant removedAt,
            @Nullable String error) {}
}
