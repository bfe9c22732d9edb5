package io.rowlock.alert;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Looks alerts up, and takes them over. An alert is open until a person acknowledges it; what happens for the same cause and
 * kind after that opens a new one. Each call takes a connection of the data source and blocks until the database has
 * answered. The {@link AccessRefusedException access policy} of the application, if it has one, is asked first, before any
 * statement: a read too, as reasons may name what only some may see. Safe for use by many threads.
 */
public interface Alerts {
    /**
     * Finds an alert, open or not, for somebody who does not say who it is: the access policy is asked for {@link
     * io.rowlock.spi.AccessPolicy#NOBODY}.
     *
     * @param id its id
     * @return the alert, or empty if there is none, or it was deleted
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the database could not be asked
     */
    Optional<Alert> find(long id);

    /**
     * Finds an alert, open or not.
     *
     * @param id its id
     * @param by who reads it, and why
     * @return the alert, or empty if there is none, or it was deleted
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the database could not be asked
     */
    Optional<Alert> find(long id, By by);

    /**
     * A page of open alerts, the newest first. Those that filters keep out are read too: with many thousands of open alerts a
     * narrow filter takes a while.
     *
     * @param filter which
     * @param after the id of the last one of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return fewer than {@code most} only at the end
     * @throws InvalidUseException if the filter is null or {@code most} out of range
     * @throws AccessRefusedException if the access policy refused it, as of {@link io.rowlock.spi.AccessPolicy#NOBODY}
     * @throws DatabaseException if the database could not be asked
     */
    List<Alert> open(AlertFilter filter, @Nullable Long after, int most);

    /**
     * The same for somebody who says who it is.
     *
     * @param filter which
     * @param after the id of the last one of the page before, or null for the first page
     * @param most 1 to 1,000
     * @param by who reads them, and why
     * @return fewer than {@code most} only at the end
     * @throws InvalidUseException if the filter or who reads is null, or {@code most} out of range
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the database could not be asked
     */
    List<Alert> open(AlertFilter filter, @Nullable Long after, int most, By by);

    /**
     * A page of alerts that somebody has acknowledged, the newest first, with who did and why; until their retention is over.
     * Those that filters keep out are read too, as are open ones. Asks the access policy as {@code NOBODY}.
     *
     * @param filter which
     * @param after the id of the last one of the page before, or null for the first page
     * @param most 1 to 1,000
     * @return fewer than {@code most} only at the end
     * @throws InvalidUseException if the filter is null or {@code most} out of range
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the database could not be asked
     */
    List<Alert> acknowledged(AlertFilter filter, @Nullable Long after, int most);

    /**
     * The same for somebody who says who it is.
     *
     * @param filter which
     * @param after the id of the last one of the page before, or null for the first page
     * @param most 1 to 1,000
     * @param by who reads them, and why
     * @return fewer than {@code most} only at the end
     * @throws InvalidUseException if the filter or who reads is null, or {@code most} out of range
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the database could not be asked
     */
    List<Alert> acknowledged(AlertFilter filter, @Nullable Long after, int most, By by);

    /**
     * Takes an alert over: the row says who, when and why, and so does a row in the table of operations, in the same
     * transaction. Waits for at most 5 s for a worker that just raises it; what that one says is then part of this alert, and
     * what comes later opens a new one. Called again, it changes nothing.
     *
     * @param id its id
     * @param by who, and why
     * @return whether it was open
     * @throws InvalidUseException if null
     * @throws AccessRefusedException if the access policy refused it
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
     * @throws AccessRefusedException if the access policy refused it: asked once, for all of the filter
     * @throws DatabaseException as for {@link #acknowledge}
     */
    long acknowledgeAll(AlertFilter filter, By by);
}
