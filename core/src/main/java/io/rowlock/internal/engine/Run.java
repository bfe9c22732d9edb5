package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitKey;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one slot does: a job; or, of an ordering key, the run of jobs that were claimed together, one after another
 * (promise P11). For any thread.
 */
final class Run {
    private final List<LeasedJob> jobs;
    private final Deque<LeasedJob> left;
    private final @Nullable LimitKey limit;
    private final @Nullable Instant limitWindow;
    private @Nullable Instant window;
    private int notBegun;

    /**
     * @param jobs at least one, in their order
     * @param limit the limit over all workers of which this takes a slot, or null
     * @param limitWindow the window of that limit's rate in which the jobs count, or null
     */
    Run(List<LeasedJob> jobs, @Nullable LimitKey limit, @Nullable Instant limitWindow) {
        this.jobs = List.copyOf(jobs);
        this.limit = limit;
        this.limitWindow = limitWindow;
        this.left = new ArrayDeque<>(jobs);
    }

    /** The first job, whose queue and handler the slot is counted for. */
    LeasedJob first() {
        return jobs.get(0);
    }

    /** The limit over all workers of which this takes a slot, or null. */
    @Nullable
    LimitKey limit() {
        return limit;
    }

    /** The window of the limit's rate in which the jobs count, or null. */
    @Nullable
    Instant limitWindow() {
        return limitWindow;
    }

    /** The jobs count in this window of their queue's rate; null: it has none. */
    synchronized void countsIn(@Nullable Instant window) {
        this.window = window;
    }

    /** The window of their queue's rate in which the jobs count, or null. */
    synchronized @Nullable Instant window() {
        return window;
    }

    /** How many jobs were taken out before they began. */
    synchronized int notBegun() {
        return notBegun;
    }

    /** The queue of its jobs. */
    String queue() {
        return first().row().lane().queue();
    }

    /** All jobs, in their order. */
    List<LeasedJob> jobs() {
        return jobs;
    }

    /** Takes the next job to begin, or null. */
    synchronized @Nullable LeasedJob next() {
        return left.poll();
    }

    /** Takes out all jobs that have not begun. */
    synchronized List<LeasedJob> takeRest() {
        List<LeasedJob> rest = new ArrayList<>(left);
        left.clear();
        notBegun += rest.size();
        return rest;
    }
}
