package io.rowlock.job;

import java.util.Locale;

/**
 * What an enqueue does when a job of its kind holds its dedup key already. In each case the answer says so and names
 * that job, and the caller's transaction goes on.
 *
 * <p>The first three cover jobs that wait: from the enqueue until a worker claims the job, and again while it waits for
 * a retry. A job that a worker has started may have read the old data, so its key is free again. The waiting job is
 * locked until the caller's transaction ends, so that no worker starts it before the caller's data can be read.
 *
 * <p>{@link #ONCE} has keys of its own: a job written once and a waiting job do not see each other.
 */
public enum DedupMode {
    /** The waiting job stays as it is. */
    KEEP,
    /** The waiting job gets the new payload, headers and subject; its time, queue, priority and limits stay. */
    REPLACE,
    /** The waiting job becomes due at the new time if that is later (debounce); all else stays. */
    PUSH_BACK,
    /**
     * At most one job ever, whatever becomes of it: until its row is pruned, which for a completed one is after the
     * retention of completed jobs, or after 24 h where the worker deletes those at once.
     */
    ONCE;

    /**
     * The text of the column.
     *
     * @return {@code keep}, {@code replace}, {@code push-back} or {@code once}
     */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
