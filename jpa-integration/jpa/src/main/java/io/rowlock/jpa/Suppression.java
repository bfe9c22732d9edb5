package io.rowlock.jpa;

/**
 * A time in which changes made through one session have no jobs; see {@link JpaOutbox#suppress}. Used by the session's
 * thread only.
 */
public interface Suppression extends AutoCloseable {
    /**
     * How many jobs were left out so far: one for each change of an entity and each annotation that is about it.
     *
     * @return 0 or more; a change that has not been flushed yet does not count, nor does one that an inner suppression
     *     left out
     */
    long count();

    /**
     * Ends it. Flushes the session first where its transaction is active and not marked for rollback, so that what was
     * changed until now has no jobs; later changes have theirs again. A second call does nothing.
     *
     * @throws RuntimeException what the flush threw; the suppression has ended all the same
     */
    @Override
    void close();
}
