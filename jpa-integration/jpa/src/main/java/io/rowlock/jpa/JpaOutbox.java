package io.rowlock.jpa;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.jpa.internal.Providers;
import io.rowlock.jpa.spi.ConnectionAccess;
import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes jobs by hand in the transaction of an EntityManager, over its own connection: the jobs exist if and only if
 * that transaction commits (promise P1). For work that no single entity stands for, and for what bulk JPQL, HQL,
 * Criteria and SQL statements changed, which make no jobs by themselves.
 *
 * <p>Nothing is flushed. Blocks for one round trip per 1,000 jobs. After the commit the workers of this JVM are woken.
 * What can be refused is refused before any SQL, and leaves the transaction as it was (promise P15). Without a
 * transaction that is active and joined, also after its commit, every method throws: the job would be lost. Safe for
 * use by many threads, each with its own EntityManager.
 */
public final class JpaOutbox {
    private final Rowlock rowlock;
    private final Providers providers = new Providers();

    private JpaOutbox(Rowlock rowlock) {
        this.rowlock = rowlock;
    }

    /**
     * Makes the door to a Rowlock. Keep it; it looks for adapters on the class path.
     *
     * @param rowlock the Rowlock whose tables lie in the database of the EntityManagers
     * @return the outbox
     * @throws InvalidUseException if null
     */
    public static JpaOutbox of(Rowlock rowlock) {
        if (rowlock == null) {
            throw new InvalidUseException("rowlock must not be null");
        }
        return new JpaOutbox(rowlock);
    }

    /**
     * Writes one job of the kind that the payload's class names, due at once.
     *
     * @param entityManager an EntityManager in a transaction
     * @param payload the payload; its class has {@link io.rowlock.job.Kind}
     * @return the row written
     * @throws InvalidUseException if refused before any SQL, such as for want of a transaction
     * @throws DatabaseException if the server refused the insert
     */
    public Enqueued enqueue(EntityManager entityManager, Object payload) {
        return enqueue(entityManager, payload, options -> {});
    }

    /**
     * Writes one job of the kind that the payload's class names.
     *
     * @param entityManager an EntityManager in a transaction
     * @param payload the payload; its class has {@link io.rowlock.job.Kind}
     * @param options fills in time, queue, priority, subject, headers
     * @return the row written
     * @throws InvalidUseException if refused before any SQL, such as for want of a transaction
     * @throws DatabaseException if the server refused the insert
     */
    public Enqueued enqueue(EntityManager entityManager, Object payload, Consumer<JobOptions> options) {
        return enqueueAll(entityManager, List.of(JobRequest.of(payload, options)))
                .get(0);
    }

    /**
     * Writes one job of a kind given by hand.
     *
     * @param entityManager an EntityManager in a transaction
     * @param kind the kind
     * @param payload the payload
     * @param options fills in time, queue, priority, subject, headers
     * @param <T> the type of the payload
     * @return the row written
     * @throws InvalidUseException if refused before any SQL, such as for want of a transaction
     * @throws DatabaseException if the server refused the insert
     */
    public <T> Enqueued enqueue(EntityManager entityManager, JobKind<T> kind, T payload, Consumer<JobOptions> options) {
        return enqueueAll(entityManager, List.of(JobRequest.of(kind, payload, options)))
                .get(0);
    }

    /**
     * Writes many jobs, in this order, in as few statements as bounds allow.
     *
     * @param entityManager an EntityManager in a transaction
     * @param requests the jobs; may be empty
     * @return the rows written, in the order of the requests
     * @throws InvalidUseException if any of them is refused, such as for want of a transaction; then none was written
     * @throws DatabaseException if the server refused the insert
     */
    public List<Enqueued> enqueueAll(EntityManager entityManager, List<? extends JobRequest<?>> requests) {
        if (entityManager == null || !entityManager.isOpen()) {
            throw new InvalidUseException(
                    "An enqueue needs an open EntityManager, got " + (entityManager == null ? "null" : "a closed one"));
        }
        ConnectionAccess access = providers.of(entityManager.getEntityManagerFactory());
        if (!access.inTransaction(entityManager)) {
            throw new InvalidUseException("Cannot enqueue: no transaction of this EntityManager is active, so the job"
                    + " would be lost; begin one first. A callback after commit is too late for it");
        }
        List<Enqueued> written = write(access, entityManager, requests);
        access.wakeAfterCommit(entityManager, written, rowlock::wake);
        return written;
    }

    private List<Enqueued> write(
            ConnectionAccess access, EntityManager entityManager, List<? extends JobRequest<?>> requests) {
        try {
            return access.call(entityManager, connection -> rowlock.outbox().enqueueAll(connection, requests));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new RowlockException("The EntityManager's connection could not be used", e);
        }
    }
}
