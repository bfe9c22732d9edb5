package io.rowlock.hibernate;

import jakarta.persistence.EntityManagerFactory;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.spi.EventType;
import org.jspecify.annotations.Nullable;

/** Finds Hibernate behind an EntityManagerFactory, which may be a framework's proxy. */
final class Factories {
    private Factories() {}

    /** Hibernate's own, or null if another provider's. */
    static @Nullable SessionFactoryImplementor unwrap(@Nullable Object factory) {
        if (factory instanceof SessionFactoryImplementor own) {
            return own;
        }
        if (factory instanceof EntityManagerFactory portable) {
            try {
                return portable.unwrap(SessionFactoryImplementor.class);
            } catch (RuntimeException anotherProvider) {
                return null;
            }
        }
        return null;
    }

    /** Rowlock's part of the unit, or null if it has no annotated entity. */
    static @Nullable HibernateUnit unit(SessionFactoryImplementor factory) {
        HibernateUnit[] found = new HibernateUnit[1];
        factory.getEventEngine()
                .getListenerRegistry()
                .getEventListenerGroup(EventType.POST_INSERT)
                .fireEventOnEachListener(found, (listener, into) -> {
                    if (listener instanceof EntityChangeListener ours) {
                        into[0] = ours.unit();
                    }
                });
        return found[0];
    }
}
