package io.rowlock.spi;

import io.rowlock.job.Enqueued;
import java.util.Collection;

/**
 * Wakes the workers of this JVM once a transaction that wrote jobs has committed. A hint only: without it the poll
 * finds the jobs. Never blocks, never throws, costs no statement. Safe for use by many threads.
 */
@FunctionalInterface
public interface Waker {
    /**
     * The transaction that wrote these jobs has committed.
     *
     * @param committed the jobs; may be empty: then only the poll is brought forward
     */
    void wake(Collection<Enqueued> committed);
}
