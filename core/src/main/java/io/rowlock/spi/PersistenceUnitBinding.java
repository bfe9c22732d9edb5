package io.rowlock.spi;

import io.rowlock.job.Outbox;
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
     * Makes the unit write its jobs through this outbox and wake this JVM's workers after its commits.
     *
     * @param entityManagerFactory the unit
     * @param outbox the outbox
     * @param waker the wake-up
     */
    void attach(Object entityManagerFactory, Outbox outbox, Waker waker);
}
