package io.rowlock.job;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How far a change of many jobs has come.
 *
 * @param done so many were changed
 * @param passed so many were found, and were not as the change needs them when their turn came: finished, running, gone, or so already
 * @param refused so many the access policy refused
 * @param locked so many were left as they were, because others had their rows locked, or wrote their dedup keys, for longer than was waited
 * @param merged so many revived ones were made one with others that wait under their dedup keys, and are cancelled again
 * @param left the ids of those that were locked, at most 1,000
 * @param end where to go on, or null if all has been looked at
 */
public record JobTally(
        long done,
        long passed,
        long refused,
        long locked,
        long merged,
        List<Long> left,
        @Nullable JobCursor end) {
    public JobTally {
        left = List.copyOf(left);
    }

    /**
     * Where to go on after it broke off.
     *
     * @return the cursor for {@link JobQuery#after}; empty if all has been looked at
     */
    public Optional<JobCursor> next() {
        return Optional.ofNullable(end);
    }
}
