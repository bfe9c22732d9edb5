package io.rowlock.job;

import io.rowlock.job.Queues.Pause;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue as it was read: what was set for it, and what waits in it.
 *
 * @param queue its name
 * @param pause since when, and by whom, it is paused; or null
 * @param deadHead what a dead job does to those behind it
 * @param limits what holds over all workers
 * @param kinds how many kinds of job wait in it, ready ones; counted up to 500
 * @param earliest when the first ready job that nobody works on was or is due; null if there is none
 */
public record QueueView(
        String queue,
        @Nullable Pause pause,
        DeadHead deadHead,
        QueueLimits limits,
        int kinds,
        @Nullable Instant earliest) {}
