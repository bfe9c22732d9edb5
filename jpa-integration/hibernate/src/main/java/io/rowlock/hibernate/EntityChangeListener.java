package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.EntityRules;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.AbstractEvent;
import org.hibernate.event.spi.PostDeleteEvent;
import org.hibernate.event.spi.PostDeleteEventListener;
import org.hibernate.event.spi.PostInsertEvent;
import org.hibernate.event.spi.PostInsertEventListener;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.event.spi.PostUpdateEventListener;
import org.hibernate.event.spi.PostUpsertEvent;
import org.hibernate.event.spi.PostUpsertEventListener;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hears of each row that was written, and passes on those of annotated entities. */
final class EntityChangeListener
        implements PostInsertEventListener, PostUpdateEventListener, PostDeleteEventListener, PostUpsertEventListener {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(EntityChangeListener.class);

    private final transient HibernateUnit unit;
    private final transient Set<String> warned = ConcurrentHashMap.newKeySet();

    EntityChangeListener(HibernateUnit unit) {
        this.unit = unit;
    }

    HibernateUnit unit() {
        return unit;
    }

    @Override
    public void onPostInsert(PostInsertEvent event) {
        changed(event, event.getPersister(), event.getEntity(), event.getId(), Set.of(Change.PERSIST));
    }

    @Override
    public void onPostUpdate(PostUpdateEvent event) {
        EntityRules rules = unit.jobs().rules(event.getPersister().getEntityName());
        if (rules != null) {
            Set<String> dirty = rules.limitUpdates() ? dirty(event) : null;
            HibernateFacts facts = new HibernateFacts(event.getPersister(), event.getEntity(), event.getId());
            pass(event, new ChangedEntity(rules, event.getEntity(), Set.of(Change.UPDATE), dirty, facts));
        }
    }

    @Override
    public void onPostDelete(PostDeleteEvent event) {
        changed(event, event.getPersister(), event.getEntity(), event.getId(), Set.of(Change.REMOVE));
    }

    /** Nobody tells whether the row was there before: it counts as either. */
    @Override
    public void onPostUpsert(PostUpsertEvent event) {
        Set<Change> either = Set.of(Change.PERSIST, Change.UPDATE);
        changed(event, event.getPersister(), event.getEntity(), event.getId(), either);
    }

    @Override
    public boolean requiresPostCommitHandling(EntityPersister persister) {
        return false;
    }

    private void changed(
            AbstractEvent event, EntityPersister persister, Object entity, Object id, Set<Change> changes) {
        EntityRules rules = unit.jobs().rules(persister.getEntityName());
        if (rules != null) {
            HibernateFacts facts = new HibernateFacts(persister, entity, id);
            pass(event, new ChangedEntity(rules, entity, changes, null, facts));
        }
    }

    /** The names of the attributes that changed, or null where Hibernate does not know. */
    private static @Nullable Set<String> dirty(PostUpdateEvent event) {
        int[] indexes = event.getDirtyProperties();
        if (indexes == null) {
            return null;
        }
        String[] names = event.getPersister().getPropertyNames();
        Set<String> dirty = new HashSet<>();
        for (int index : indexes) {
            dirty.add(names[index]);
        }
        return dirty;
    }

    private void pass(AbstractEvent event, ChangedEntity change) {
        SharedSessionContractImplementor session = EventSessions.of(event);
        if (session != null) {
            unit.changed(session, change);
        } else if (unit.settings().warnOfStateless()) {
            warn(change.rules().entityName());
        } else {
            throw new InvalidUseException("The job of " + change.rules().entityName() + " would be lost: before 7.2,"
                    + " Hibernate hides a StatelessSession from listeners. Roll back; then use a Session, or a newer"
                    + " Hibernate, or set rowlock.stateless=warn and write the jobs with Outbox");
        }
    }

    private void warn(String entity) {
        if (warned.add(entity)) {
            LOG.warn(
                    "Entity {} is written through a StatelessSession, which this version of Hibernate hides from"
                            + " listeners: no job is written for it; write it with Outbox (said once for each entity)",
                    entity);
        }
    }
}
