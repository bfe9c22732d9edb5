package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.EntityRules;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.AbstractEvent;
import org.hibernate.event.spi.PreDeleteEvent;
import org.hibernate.event.spi.PreDeleteEventListener;
import org.hibernate.event.spi.PreInsertEvent;
import org.hibernate.event.spi.PreInsertEventListener;
import org.hibernate.event.spi.PreUpdateEvent;
import org.hibernate.event.spi.PreUpdateEventListener;
import org.hibernate.event.spi.PreUpsertEvent;
import org.hibernate.event.spi.PreUpsertEventListener;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Hears of each row that is about to be written. Refuses it where its job could not be: outside a transaction, the
 * database commits the row's statement by itself. Remembers what a row held that is about to be deleted.
 */
final class PendingChangeListener
        implements PreInsertEventListener, PreUpdateEventListener, PreDeleteEventListener, PreUpsertEventListener {
    private static final long serialVersionUID = 1L;

    private final transient HibernateUnit unit;

    PendingChangeListener(HibernateUnit unit) {
        this.unit = unit;
    }

    @Override
    public boolean onPreInsert(PreInsertEvent event) {
        return pass(event, event.getPersister(), Change.PERSIST);
    }

    @Override
    public boolean onPreUpdate(PreUpdateEvent event) {
        return pass(event, event.getPersister(), Change.UPDATE);
    }

    @Override
    public boolean onPreUpsert(PreUpsertEvent event) {
        return pass(event, event.getPersister(), Change.PERSIST, Change.UPDATE);
    }

    /**
     * Hibernate takes the references to entities that are removed too out of the state that it hands to listeners
     * afterwards; the entry, which is gone then, has what was read from the row.
     */
    @Override
    public boolean onPreDelete(PreDeleteEvent event) {
        boolean veto = pass(event, event.getPersister(), Change.REMOVE);
        SharedSessionContractImplementor session = EventSessions.of(event);
        if (session != null && unit.jobs().rules(event.getPersister().getEntityName()) != null) {
            EntityEntry entry = session.getPersistenceContextInternal().getEntry(event.getEntity());
            @Nullable Object[] loaded = entry == null ? null : entry.getLoadedState();
            if (loaded != null) {
                unit.willDelete(session, event.getEntity(), loaded);
            }
        }
        return veto;
    }

    private boolean pass(AbstractEvent event, EntityPersister persister, Change... changes) {
        EntityRules rules = unit.jobs().rules(persister.getEntityName());
        for (Change change : changes) {
            if (rules != null && rules.about(change)) {
                unit.requireJob(EventSessions.of(event), rules, change);
            }
        }
        return false; // no veto
    }
}
