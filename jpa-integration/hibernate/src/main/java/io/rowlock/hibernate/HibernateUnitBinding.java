package io.rowlock.hibernate;

import io.rowlock.job.Outbox;
import io.rowlock.spi.PersistenceUnitBinding;
import io.rowlock.spi.Waker;
import java.util.Map;
import java.util.Objects;
import org.hibernate.engine.spi.SessionFactoryImplementor;

/** Connects a SessionFactory with a Rowlock. Found by {@code RowlockBuilder.persistenceUnit}. */
public final class HibernateUnitBinding implements PersistenceUnitBinding {
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
    public void attach(Object entityManagerFactory, Outbox outbox, Waker waker) {
        HibernateUnit unit = Factories.unit(factory(entityManagerFactory));
        if (unit != null) {
            unit.attach(outbox, waker);
        }
    }

    private static SessionFactoryImplementor factory(Object entityManagerFactory) {
        return Objects.requireNonNull(Factories.unwrap(entityManagerFactory), "not accepted");
    }
}
