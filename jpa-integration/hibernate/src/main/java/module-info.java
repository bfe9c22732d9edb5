import io.rowlock.hibernate.HibernateConnectionAccess;
import io.rowlock.hibernate.HibernateUnitBinding;
import io.rowlock.hibernate.RowlockIntegrator;
import io.rowlock.hibernate.RowlockServices;

/**
 * Writes a job in the same transaction when an annotated entity changes, with Hibernate 6.6 to 7.4. Exports nothing:
 * Hibernate and Rowlock find its parts by themselves. The settings stand at {@link io.rowlock.jpa.OutboxJob}.
 */
module io.rowlock.hibernate {
    requires transitive io.rowlock.jpa;
    requires jakarta.transaction;
    requires java.naming;
    requires org.hibernate.orm.core;
    requires static org.jspecify;
    requires org.slf4j;

    provides org.hibernate.integrator.spi.Integrator with
            RowlockIntegrator;
    provides org.hibernate.service.spi.ServiceContributor with
            RowlockServices;
    provides io.rowlock.spi.PersistenceUnitBinding with
            HibernateUnitBinding;
    provides io.rowlock.jpa.spi.ConnectionAccess with
            HibernateConnectionAccess;
}
