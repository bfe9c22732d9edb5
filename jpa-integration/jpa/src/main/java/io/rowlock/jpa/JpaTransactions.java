package io.rowlock.jpa;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.internal.EntityManagerRunner;
import io.rowlock.spi.TransactionRunner;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

/**
 * Transactions for handlers that work through an EntityManager:
 *
 * <pre>{@code
 * worker.handleTransactionally(PaymentReceived.class, JpaTransactions.of(entityManagerFactory),
 *     (payment, job, em) -> em.find(Order.class, payment.order()).paid());
 * }</pre>
 *
 * <p>What the handler changed, the jobs that its changes made, and the completion of its own job commit together or not
 * at all (promise P4).
 */
public final class JpaTransactions {
    private JpaTransactions() {}

    /**
     * Runs each job in a new EntityManager and a READ COMMITTED transaction of its own: locks the job's row, calls the
     * handler, flushes, completes the job, commits, closes. Whatever is thrown on the way rolls everything back, and so
     * does a handler that returns after an exception of the provider has marked the transaction for rollback only. Every
     * job in progress takes one connection of the unit; the handler must neither end the transaction nor close the
     * EntityManager; the job of one that ends its transaction becomes a dead letter at once, so that what it committed is
     * not written again by each further attempt.
     *
     * @param factory a persistence unit of transaction type RESOURCE_LOCAL on the database of the jobs
     * @return the runner, safe for use by many threads
     * @throws InvalidUseException if null, or if no adapter on the class path knows the unit's provider
     */
    public static TransactionRunner<EntityManager> of(EntityManagerFactory factory) {
        if (factory == null) {
            throw new InvalidUseException("factory must not be null");
        }
        return new EntityManagerRunner(factory);
    }
}
