package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.spi.PersistenceUnitBinding;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.hibernate.JDBCException;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;

/** Connects a SessionFactory with a Rowlock. Found by {@code RowlockBuilder.persistenceUnit}. */
public final class HibernateUnitBinding implements PersistenceUnitBinding {
    private static final String TRANSACTION =
            "/* rowlock:transaction */ SELECT pg_backend_pid() || ' ' || pg_current_xact_id()";

    /** Called by the service loader. */
    public HibernateUnitBinding() {}

    @Override
    public boolean accepts(Object entityManagerFactory) {
        return Factories.unwrap(entityManagerFactory) != null;
    }

    @Override
    public Map<String, String> settings(Object entityManagerFactory) {
        return UnitSettings.of(factory(entityManagerFactory).getProperties()).values();
    }

    @Override
    public Collection<JobKind<?>> kinds(Object entityManagerFactory) {
        HibernateUnit unit = Factories.unit(factory(entityManagerFactory));
        return unit == null ? Set.of() : unit.jobs().kinds();
    }

    @Override
    public void attach(Object entityManagerFactory, Attachment rowlock) {
        HibernateUnit unit = Factories.unit(factory(entityManagerFactory));
        if (unit != null) {
            unit.attach(rowlock);
        }
    }

    /*
     * Skipped under JTA and with tenants: the one needs a transaction manager at work, the other a tenant.
     */
    @Override
    public void look(Object entityManagerFactory, Look look) throws SQLException {
        SessionFactoryImplementor factory = factory(entityManagerFactory);
        if (factory.getSessionFactoryOptions().isMultiTenancyEnabled()) {
            return;
        }
        try (EntityManager entityManager = ((EntityManagerFactory) factory).createEntityManager()) {
            SharedSessionContractImplementor session = entityManager.unwrap(SharedSessionContractImplementor.class);
            if (!session.getTransactionCoordinator()
                    .getTransactionCoordinatorBuilder()
                    .isJta()) {
                entityManager.getTransaction().begin();
                look(entityManager, session, look);
            }
        } catch (JDBCException e) {
            throw e.getSQLException();
        }
    }

    private static void look(EntityManager entityManager, SharedSessionContractImplementor session, Look look) {
        try {
            Object byQuery = entityManager.createNativeQuery(TRANSACTION).getSingleResult();
            session.doWork(connection -> {
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(TRANSACTION)) {
                    row.next();
                    compare(byQuery, row.getString(1));
                }
                look.at(connection);
            });
        } finally {
            entityManager.getTransaction().rollback();
        }
    }

    private static void compare(Object byQuery, String byConnection) {
        if (!byConnection.equals(byQuery)) {
            throw new InvalidUseException("The persistence unit's queries run in another transaction than its"
                    + " connection: jobs would not commit with the rows (backend and transaction of a query: " + byQuery
                    + ", of the connection: " + byConnection + ")");
        }
    }

    private static SessionFactoryImplementor factory(Object entityManagerFactory) {
        return Objects.requireNonNull(Factories.unwrap(entityManagerFactory), "not accepted");
    }
}
