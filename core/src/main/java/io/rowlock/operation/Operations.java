package io.rowlock.operation;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import org.jspecify.annotations.Nullable;

/**
 * Reads what people and their tools did to jobs, sagas, queues, schedules, alerts, leases and stored answers: who, when and why. The rows are written by what
 * was done, in its transaction, and by nobody else; they are kept for as long as the retention of operations says. Each call
 * takes a connection of the data source, waits for no lock, leaves no trace, and blocks until the database has answered. The
 * application's access policy is asked first. Safe for use by many threads.
 */
public interface Operations {
    /**
     * A page of operations, the newest first. Reads one index, and of it at most 10,000 rows: of a job, saga, schedule, alert or lease,
     * theirs only; else all operations from the newest on, of which the filter leaves out what it does not ask for, so that a
     * page may be short, or empty, and yet have a next one. Where {@link OperationFilter#since} is said, the page that reaches
     * back before it is the last: operations stand in the order in which they were written, which is that of their times, unless the
     * database's clock was set back.
     *
     * @param filter which
     * @param after {@link OperationPage#next} of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return at most so many
     * @throws InvalidUseException if the filter is null or {@code most} out of range
     * @throws AccessRefusedException if the access policy refused it, as of {@link io.rowlock.spi.AccessPolicy#NOBODY}
     * @throws DatabaseException if the database could not be asked
     */
    OperationPage find(OperationFilter filter, @Nullable Long after, int most);

    /**
     * The same for somebody who says who it is.
     *
     * @param filter which
     * @param after {@link OperationPage#next} of the page before, or null for the first page
     * @param most 1 to 1,000
     * @param by who reads them, and why
     * @return at most so many
     * @throws InvalidUseException if the filter or who reads is null, or {@code most} out of range
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the database could not be asked
     */
    OperationPage find(OperationFilter filter, @Nullable Long after, int most, By by);
}
