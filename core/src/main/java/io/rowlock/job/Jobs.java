package io.rowlock.job;

import io.rowlock.error.DatabaseException;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Looks jobs up. Reads only; each method is one statement that waits for no lock. Safe for use by many threads, unless
 * bound to one connection by {@link #in}.
 */
public interface Jobs {
    /**
     * The same look-ups over a given connection, in its transaction: sees what that transaction wrote and has not
     * committed.
     *
     * @param connection the caller's connection; not closed
     * @return look-ups for the threads that may use the connection
     */
    Jobs in(Connection connection);

    /**
     * The job with this id.
     *
     * @param id the id
     * @return the row, or empty if there is none (any more)
     * @throws DatabaseException if the server refused it
     */
    Optional<Job> find(long id);

    /**
     * The jobs about a subject, oldest first.
     *
     * @param subject the subject, such as {@code Order:42}
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<Job> ofSubject(String subject);

    /**
     * The jobs of a kind, oldest first. Walks the whole table where the kind has few rows: for tests and small tables.
     *
     * @param kind the kind's name
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<Job> ofKind(String kind);

    /**
     * The failed attempts of a job, oldest first.
     *
     * @param id the job's id
     * @return at most 1,000 rows
     * @throws DatabaseException if the server refused it
     */
    List<JobFailure> failures(long id);

    /**
     * How many rows stand in each state. Walks the whole table.
     *
     * @return every state with its count, zero included
     * @throws DatabaseException if the server refused it
     */
    Map<JobState, Long> counts();
}
