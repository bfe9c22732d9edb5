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
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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

    /**
     * Leaves out the jobs of entity changes made through a session, for imports and fixtures, until the answer is closed:
     *
     * <pre>{@code
     * try (Suppression silent = outbox.suppress(em, "import of the old shop", "order-confirmation")) {
     *     oldOrders.forEach(em::persist);
     * }
     * }</pre>
     *
     * <p>Flushes first where a transaction is active, so that what was changed before has its jobs. Payload methods of
     * these kinds are not called, and bulk statements of the session are not warned of or refused on their account. Other
     * sessions are not touched, nor are jobs enqueued by hand. Suppressions may be nested. Each that left something out is
     * logged when it ends, and told to listeners as {@code JobsSuppressed}. A session that is given up, or whose process
     * dies, takes its suppressions along.
     *
     * @param session an EntityManager, or a session of the provider's own, such as Hibernate's StatelessSession (before
     *     Hibernate 7.2, which hides the changes of one, only its bulk statements are meant)
     * @param reason why, for the log
     * @param kinds the kinds to leave out; none for all kinds of the unit
     * @return open; to be closed by the session's thread
     * @throws InvalidUseException if the session is closed or of no known provider, the reason is blank, the unit has no
     *     entities that make jobs of a kind, or there are changes but no transaction to flush them in
     */
    public Suppression suppress(AutoCloseable session, String reason, String... kinds) {
        if (session == null || (session instanceof EntityManager entityManager && !entityManager.isOpen())) {
            throw new InvalidUseException(
                    "A suppression needs an open session, got " + (session == null ? "null" : "a closed one"));
        }
        if (reason == null || reason.isBlank()) {
            throw new InvalidUseException("A suppression needs a reason, such as \"import of the old shop\"");
        }
        if (kinds == null || Arrays.asList(kinds).contains(null)) {
            throw new InvalidUseException("The kinds to suppress must not be null");
        }
        return providers.ofSession(session).suppress(session, reason, Set.copyOf(Arrays.asList(kinds)));
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
