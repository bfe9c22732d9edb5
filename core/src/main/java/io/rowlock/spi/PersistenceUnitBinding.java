package io.rowlock.spi;

import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockListener;
import io.rowlock.job.JobKind;
import io.rowlock.job.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;

/**
 * Connects a persistence unit of some provider with a {@code Rowlock}: found by {@link java.util.ServiceLoader}. Called
 * once per Rowlock, at start-up.
 */
public interface PersistenceUnitBinding {
    /**
     * Whether this is a unit of the provider that this binding knows.
     *
     * @param entityManagerFactory an EntityManagerFactory or the provider's own type
     * @return true if the other methods may be called with it
     */
    boolean accepts(Object entityManagerFactory);

    /**
     * The unit's settings for Rowlock.
     *
     * @param entityManagerFactory the unit
     * @return those of its properties whose names begin with {@code rowlock.}, without that beginning
     */
    Map<String, String> settings(Object entityManagerFactory);

    /**
     * Shows the start-up check a connection of the unit, in a transaction of a new EntityManager that is rolled back
     * afterwards. Does nothing where such a transaction cannot be had at start-up.
     *
     * @param entityManagerFactory the unit
     * @param look reads from the connection
     * @throws InvalidUseException if the EntityManager and its connection turn out to be in different transactions
     * @throws SQLException if the database refused it
     */
    void look(Object entityManagerFactory, Look look) throws SQLException;

    /** What the start-up check does with a connection. */
    @FunctionalInterface
    interface Look {
        /**
         * Reads from it.
         *
         * @param connection a connection of the unit, in a transaction
         * @throws SQLException if the database refused it
         */
        void at(Connection connection) throws SQLException;
    }

    /**
     * The kinds of the unit's jobs, so that one that stands for another payload type elsewhere is found at start-up.
     *
     * @param entityManagerFactory the unit
     * @return the kinds its entities make
     */
    Collection<JobKind<?>> kinds(Object entityManagerFactory);

    /**
     * Makes the unit write its jobs through this outbox and wake this JVM's workers after its commits. Of several
     * Rowlocks with the same tables the outbox of the last one writes, and the workers of all are woken.
     *
     * @param entityManagerFactory the unit
     * @param rowlock the Rowlock
     * @throws InvalidUseException if another with other tables is attached: its workers would find no job any more
     */
    void attach(Object entityManagerFactory, Attachment rowlock);

    /**
     * What a unit needs of the Rowlock it is attached to.
     *
     * @param tables what the names of its tables begin with, the schema first, such as {@code public.rowlock_}
     * @param outbox writes the unit's jobs
     * @param waker called after the unit's commits
     * @param listener told what happens in the unit; throws nothing
     */
    record Attachment(String tables, Outbox outbox, Waker waker, RowlockListener listener) {}
}
