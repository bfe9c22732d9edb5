package io.rowlock.jpa.spi;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Enqueued;
import io.rowlock.jpa.Suppression;
import io.rowlock.spi.Waker;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.sql.Connection;
import java.util.Collection;
import java.util.Set;

/**
 * What rowlock-jpa needs of a provider beyond the standard: the connection and the transaction behind an EntityManager.
 * Found by {@link java.util.ServiceLoader}; safe for use by many threads, each with its own EntityManager.
 */
public interface ConnectionAccess {
    /**
     * Whether this is the provider of the unit.
     *
     * @param factory a persistence unit
     * @return true if the other methods may be called with its EntityManagers
     */
    boolean accepts(EntityManagerFactory factory);

    /**
     * Whether what is written over the EntityManager's connection now belongs to a transaction that has not ended.
     *
     * @param entityManager an open EntityManager
     * @return false before begin, after commit or rollback, and where a transaction exists but was not joined
     */
    boolean inTransaction(EntityManager entityManager);

    /**
     * Runs a call on the EntityManager's own connection, in its transaction. Flushes nothing.
     *
     * @param entityManager an open EntityManager
     * @param call neither commits, rolls back nor closes the connection
     * @param <T> the type of its answer
     * @return its answer
     * @throws Exception what the call threw, as it is
     */
    <T> T call(EntityManager entityManager, ConnectionCall<T> call) throws Exception;

    /**
     * Wakes workers of this JVM if the transaction commits. Keeps the earliest job of each lane only, so many calls in
     * one transaction cost no memory.
     *
     * @param entityManager an EntityManager in a transaction
     * @param written jobs written in it
     * @param waker called after the commit
     */
    void wakeAfterCommit(EntityManager entityManager, Collection<Enqueued> written, Waker waker);

    /**
     * Whether this is a session of the provider: an EntityManager, or a type of its own.
     *
     * @param session any session
     * @return true if {@link #suppress} may be called with it
     */
    boolean acceptsSession(AutoCloseable session);

    /**
     * Leaves out the jobs of entity changes of a session, see {@code JpaOutbox.suppress}.
     *
     * @param session an open session
     * @param reason why
     * @param kinds the kinds, or none for all of the unit
     * @return open
     * @throws InvalidUseException if a kind is not one of the unit's entities, or there are changes that cannot be
     *     flushed before
     */
    Suppression suppress(AutoCloseable session, String reason, Set<String> kinds);

    /**
     * What to do with a connection.
     *
     * @param <T> the type of the answer
     */
    @FunctionalInterface
    interface ConnectionCall<T> {
        /**
         * Does it.
         *
         * @param connection the connection
         * @return the answer
         * @throws Exception whatever went wrong
         */
        T on(Connection connection) throws Exception;
    }
}
