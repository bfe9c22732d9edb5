package io.rowlock.job;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that were found, the newest first.
 *
 * @param jobs at most as many as were asked for; may be fewer, or none, though there are more: a page looks at so many rows
 *     and not at all
 * @param end where the next page begins, or null if this is the last
 */
public record JobPage(List<Job> jobs, @Nullable JobCursor end) {
    public JobPage {
        jobs = List.copyOf(jobs);
    }

    /**
     * Where the next page begins.
     *
     * @return the cursor for {@link JobQuery#after}; empty if this is the last page
     */
    public Optional<JobCursor> next() {
        return Optional.ofNullable(end);
    }
}
