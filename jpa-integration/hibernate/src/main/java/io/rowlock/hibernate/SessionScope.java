package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Enqueued;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.FlushChanges;
import io.rowlock.spi.EarliestByLane;
import io.rowlock.spi.Waker;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import java.util.Collection;
import java.util.List;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.jspecify.annotations.Nullable;

/**
 * What Rowlock keeps of one session: the changes of the flush that is under way, and what to wake when the transaction
 * commits. Used by the session's thread only. Holds no reference to the session, except through entities while a flush
 * is under way, so that a weak map may hold it by its session.
 */
final class SessionScope implements Synchronization {
    /** A payload method that queries and modifies makes a flush in the flush's end, and so on. */
    private static final int MAX_DEPTH = 10;

    private final FlushChanges changes = new FlushChanges();
    private final WeakObjects insertedAtOnce = new WeakObjects();
    private @Nullable Object deleting;
    private @Nullable Object @Nullable [] deletingValues;
    private final EarliestByLane written = new EarliestByLane();
    private final Suppressions suppressions = new Suppressions();
    private Waker waker = committed -> {};
    private boolean flushing;
    private boolean registered;
    private int depth;

    /** A flush begins. What one that failed has left is forgotten. */
    void begin() {
        changes.clear();
        forgetDeletion();
        flushing = true;
    }

    boolean isFlushing() {
        return flushing;
    }

    void add(ChangedEntity change) {
        changes.add(change);
    }

    /**
     * A flush has ended: gives its changes away.
     *
     * @param flushed false if nothing was flushed: then the collections of new entities are still to be written
     */
    List<ChangedEntity> end(boolean flushed) {
        flushing = false;
        if (flushed) {
            insertedAtOnce.clear();
        }
        return changes.take();
    }

    /**
     * The job of a change outside a flush was written. Remembered until the next flush has ended: what that writes of a new
     * entity's collections belongs to its insert, which has its job. What the application lets go is not kept here.
     */
    void wroteAtOnce(ChangedEntity change) {
        if (change.changes().contains(Change.PERSIST)) {
            insertedAtOnce.add(change.entity());
        }
    }

    boolean insertedAtOnce(Object entity) {
        return insertedAtOnce.contains(entity);
    }

    /** A row is being deleted, one at a time. */
    void willDelete(Object entity, @Nullable Object[] values) {
        deleting = entity;
        deletingValues = values;
    }

    /** Gives away what was read from the row that was deleted, or null if that is not known. */
    @Nullable
    Object @Nullable [] deletedState(Object entity) {
        @Nullable Object[] values = deleting == entity ? deletingValues : null;
        forgetDeletion();
        return values;
    }

    private void forgetDeletion() {
        deleting = null;
        deletingValues = null;
    }

    /** Asks to be told of the end of the session's transaction, once in each. */
    void watch(SharedSessionContractImplementor session) {
        if (!registered && session.isTransactionInProgress()) {
            session.getTransactionCoordinator().getLocalSynchronizations().registerSynchronization(this);
            registered = true;
        }
    }

    /** Jobs were written; after the commit, the waker is told of the earliest in each lane. */
    void wrote(Collection<Enqueued> jobs, Waker toTell) {
        written.add(jobs);
        waker = toTell;
    }

    Suppressions suppressions() {
        return suppressions;
    }

    void enterWrite() {
        if (++depth > MAX_DEPTH) {
            throw new InvalidUseException("Payload methods modify entities and query, again and again: each flush they"
                    + " cause makes further jobs. A payload method must not modify entities");
        }
    }

    void leaveWrite() {
        depth--;
    }

    @Override
    public void beforeCompletion() {
        // Every flush has written its jobs already.
    }

    @Override
    public void afterCompletion(int status) {
        registered = false;
        flushing = false;
        changes.clear();
        forgetDeletion();
        insertedAtOnce.clear();
        List<Enqueued> jobs = written.take();
        if (status == Status.STATUS_COMMITTED && !jobs.isEmpty()) {
            waker.wake(jobs);
        }
    }
}
