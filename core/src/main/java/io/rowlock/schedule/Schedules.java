package io.rowlock.schedule;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.job.Enqueued;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Declares, shows and changes schedules. Every method is a transaction of its own, READ COMMITTED whatever the default, and
 * waits at most 5 s for another that changes the same schedule. Those of a person write who and why to {@code
 * rowlock_operation} in the same transaction. Workers of this process see a change at once, others within 10 s. The
 * {@link AccessRefusedException access policy} of the application, if it has one, is asked before each change by a person, and
 * before any statement of it; not for declarations. Safe for use by many threads.
 */
public interface Schedules {
    /**
     * Makes a schedule, or changes it if the revision is higher than that of its row. With the same revision nothing is
     * changed, and if the content differs the log warns and an alert is raised: two applications may share the name. With a
     * lower one nothing is. A pause stays. What was removed comes back by a higher revision only. The next instant stays unless
     * the timing has changed, and is computed anew then; what the old timing has missed is made up for before, by its own
     * {@link Misfire} and with its own content, at most 1,000 jobs in a transaction: then this takes several. A crash between
     * them leaves the old declaration, further on.
     *
     * @param schedule the schedule
     * @return true if a row was made or changed
     * @throws InvalidUseException if null, the expression cannot be read or never comes, or the payload is refused; before
     *     any SQL
     * @throws DatabaseException if the server refused it
     */
    boolean declare(Schedule<?> schedule);

    /**
     * The schedule with this name, removed or not.
     *
     * @param name the name
     * @return the row, or empty if there is none
     * @throws InvalidUseException if null
     * @throws DatabaseException if the server refused it
     */
    Optional<ScheduleView> find(String name);

    /**
     * A page of the schedules, removed ones too, in the order of their names as the database sorts them.
     *
     * @param after the last name of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return at most so many; fewer: there are no more
     * @throws InvalidUseException if out of range
     * @throws DatabaseException if the server refused it
     */
    List<ScheduleView> all(@Nullable String after, int most);

    /**
     * Lets it make no jobs until it is resumed. Jobs that it made stay as they are.
     *
     * @param name the name
     * @param by who pauses it, and why
     * @return false if it was paused before, is removed or unknown; then nothing is changed
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or another transaction holds its row
     */
    boolean pause(String name, By by);

    /**
     * Ends a pause. Instants that came in it are left out; a fixed delay that is over is due at once.
     *
     * @param name the name
     * @param by who resumes it, and why
     * @return false if it was not paused, is removed or unknown; then nothing is changed
     * @throws InvalidUseException if null, or the expression of the row can be read by a newer version only
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or another transaction holds its row
     */
    boolean resume(String name, By by);

    /**
     * Makes a job of it now, paused or not, whatever its overlap says; its instants stay as they are, but for a fixed delay,
     * which counts from the end of this job, and of others that are at work. {@link Overlap#SKIP} asks for all of them too. The
     * job's header {@code rowlock-scheduled-at} is the time of the call.
     *
     * @param name the name
     * @param by who runs it, and why
     * @return the job, or empty if the schedule is removed or unknown
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or another transaction holds its row
     */
    Optional<Enqueued> runNow(String name, By by);

    /**
     * Removes it. Its row stays and says so, so that no older process brings it back: only a declaration with a higher
     * revision does. Jobs that it made stay as they are; a pause ends.
     *
     * @param name the name
     * @param by who removes it, and why
     * @return false if it was removed before or is unknown; then nothing is changed
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it, or another transaction holds its row
     */
    boolean remove(String name, By by);
}
