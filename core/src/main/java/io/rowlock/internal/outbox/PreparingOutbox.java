package io.rowlock.internal.outbox;

import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Outbox;
import java.sql.Connection;
import java.util.List;

/**
 * An outbox whose jobs may be written by another module's statement, together with that module's own rows: first {@link
 * #prepare}, then the statement, then {@link #written}, all in one transaction. Safe for use by many threads.
 */
public interface PreparingOutbox extends Outbox {
    /** Checks and serialises jobs without keys, as an enqueue does; no SQL. */
    List<NewJob> prepare(List<? extends JobRequest<?>> requests);

    /** They are written, in the transaction that is open there: tells listeners, and workers after the commit. */
    void written(Connection connection, List<Enqueued> jobs);
}
