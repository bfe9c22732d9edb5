package io.rowlock.spi;

import java.util.Map;

/**
 * Gives jobs their context: tenant, actor, trace. What it says when a job is written, on the thread that writes it, stands
 * in the job's headers, where its handler reads it ({@code JobContext.headers()}). For the jobs of {@code Outbox} and those
 * of a persistence unit alike. Set by {@code Rowlock.builder().headers(...)}.
 */
@FunctionalInterface
public interface HeaderContributor {
    /**
     * The headers that jobs written now, on this thread, are to have. Called once per call of the outbox, and once per
     * flush of a persistence unit, before any SQL, by many threads at once. What it throws goes to the caller, and the job
     * is not written.
     *
     * @return names of 1 to 200 characters, not blank, and values; never null, empty for nothing to say. All headers of a job
     *     together have at most 8 KiB as JSON. What {@code JobOptions.header} says of one job wins, and of two contributors the
     *     one that was added last. Names that begin with {@code rowlock-} are Rowlock's own
     */
    Map<String, String> headers();
}
