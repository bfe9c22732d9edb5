package io.rowlock.alert;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Looks alerts up, and takes them over. An alert is open until a person acknowledges it; what happens for the same cause and
 * kind after that opens a new one. Each call takes a connection of the data source and blocks until the database has
 * answered. Safe for use by many threads.
 */
public interface Alerts {
    /**
     * Finds an alert, open or not.
     *
     * @param id its id
     * @return the alert, or empty if there is none, or it was deleted
     * @throws DatabaseException if the database could not be asked
     */
    Optional<Alert> find(long id);

    /**
     * A page of open alerts, the newest first. Those that filters keep out are read too: with many thousands of open alerts a
     * narrow filter takes a while.
     *
     * @param filter which
     * @param after the id of the last one of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return fewer than {@code most} only at the end
     * @throws InvalidUseException if the filter is null or {@code most} out of range
     * @throws DatabaseException if the database could not be asked
     */
    List<Alert> open(AlertFilter filter, @Nullable Long after, int most);

    /**
     * A page of alerts that somebody has acknowledged, the newest first, with who did and why; until their retention is over.
     * Those that filters keep out are read too, as are open ones.
     *
     * @param filter which
     * @param after the id of the last one of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return fewer than {@code most} only at the end
     * @throws InvalidUseException if the filter is null or {@code most} out of range
     * @throws DatabaseException if the database could not be asked
     */
    List<Alert> acknowledged(AlertFilter filter, @Nullable Long after, int most);

    /**
     * Takes an alert over: the row says who, when and why, and so does a row in the table of operations, in the same
     * transaction. Waits for at most 5 s for a worker that just raises it; what that one says is then part of this alert, and
     * what comes later opens a new one. Called again, it changes nothing.
     *
     * @param id its id
     * @param by who, and why
     * @return whether it was open
     * @throws InvalidUseException if null
     * @throws DatabaseException if the database refused it, or somebody has the row locked
     */
    boolean acknowledge(long id, By by);

    /**
     * Takes over all that are open now and pass the filter, up to 500 in a transaction. When it fails half-way, or the process
     * dies, those before stay acknowledged; call it again.
     *
     * @param filter which
     * @param by who, and why
     * @return how many were open
     * @throws InvalidUseException if null
     * @throws DatabaseException as for {@link #acknowledge}
     */
    long acknowledgeAll(AlertFilter filter, By by);
}
