package io.rowlock.internal.engine;

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

    /** @param jobs at least one, in their order */
    Run(List<LeasedJob> jobs) {
        this.jobs = List.copyOf(jobs);
        this.left = new ArrayDeque<>(jobs);
    }

    /** The first job, whose queue and handler the slot is counted for. */
    LeasedJob first() {
        return jobs.get(0);
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
        return rest;
    }
}
