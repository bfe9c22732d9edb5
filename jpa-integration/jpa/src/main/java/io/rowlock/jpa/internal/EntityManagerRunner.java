package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.job.PermanentFailure;
import io.rowlock.jpa.spi.ConnectionAccess;
import io.rowlock.spi.TransactionRunner;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.EntityTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** One EntityManager and one transaction for each job. */
public final class EntityManagerRunner implements TransactionRunner<EntityManager> {
    private final EntityManagerFactory factory;
    private final ConnectionAccess access;

    public EntityManagerRunner(EntityManagerFactory factory) {
        this.factory = factory;
        this.access = new Providers().of(factory);
    }

    @Override
    public void run(Work<EntityManager> work) throws Exception {
        try (EntityManager entityManager = factory.createEntityManager()) {
            EntityTransaction transaction = transaction(entityManager);
            transaction.begin();
            try {
                steps(entityManager, work);
                refuseRollbackOnly(transaction);
                transaction.commit();
            } catch (Throwable e) {
                rollBack(transaction, e);
                throw e;
            }
        }
    }

    private void steps(EntityManager entityManager, Work<EntityManager> work) throws Exception {
        access.call(entityManager, connection -> {
            readCommitted(connection);
            work.begun(connection);
            return true;
        });
        work.handle(entityManager);
        if (!entityManager.getTransaction().isActive()) {
            throw new PermanentFailure("The handler ended the transaction that also completes the job; leave its end to"
                    + " Rowlock, and throw to roll back");
        }
        entityManager.flush();
        access.call(entityManager, connection -> {
            work.completing(connection);
            return true;
        });
    }

    /** Hibernate rolls such a transaction back in commit() and says nothing: the job would be taken for completed. */
    private static void refuseRollbackOnly(EntityTransaction transaction) {
        if (transaction.getRollbackOnly()) {
            throw new RowlockException(
                    "The handler's transaction was marked for rollback only: it caught an exception of"
                            + " the persistence provider and returned, or called setRollbackOnly(). Everything is rolled back");
        }
    }

    /** The unit's own default may be stricter. First statement of the transaction; it ends with the transaction. */
    private static void readCommitted(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("/* rowlock:read-committed */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        }
    }

    private static EntityTransaction transaction(EntityManager entityManager) {
        try {
            return entityManager.getTransaction();
        } catch (IllegalStateException e) {
            throw new InvalidUseException(
                    "JpaTransactions needs a persistence unit of transaction type RESOURCE_LOCAL, not JTA", e);
        }
    }

    private static void rollBack(EntityTransaction transaction, Throwable why) {
        try {
            if (transaction.isActive()) {
                transaction.rollback();
            }
        } catch (RuntimeException e) {
            why.addSuppressed(e);
        }
    }
}
