package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
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
        entityManager.flush();
        access.call(entityManager, connection -> {
            work.completing(connection);
            return true;
        });
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
