package io.rowlock.testkit;

import io.rowlock.job.Jobs;

/** Where assertions on jobs begin: {@code assertThat(rowlock.jobs())}. */
public final class RowlockAssertions {
    private RowlockAssertions() {}

    /**
     * Assertions on committed jobs, or, with {@code rowlock.jobs().in(connection)}, on what the caller's transaction has
     * written and not committed yet.
     *
     * @param jobs where to look
     * @return assertions, each of which reads the rows anew
     */
    public static JobsAssert assertThat(Jobs jobs) {
        return new JobsAssert(jobs);
    }
}
