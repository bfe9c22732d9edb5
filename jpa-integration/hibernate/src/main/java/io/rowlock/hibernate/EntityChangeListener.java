package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.EntityFacts;
import io.rowlock.jpa.internal.EntityRules;
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
        inserted(
                event,
                event.getPersister(),
                event.getEntity(),
                event.getId(),
                event.getState(),
                Set.of(Change.PERSIST));
    }

    /** Nobody tells whether the row was there before: it counts as either. */
    @Override
    public void onPostUpsert(PostUpsertEvent event) {
        Set<Change> either = Set.of(Change.PERSIST, Change.UPDATE);
        inserted(event, event.getPersister(), event.getEntity(), event.getId(), event.getState(), either);
    }

    private void inserted(
            AbstractEvent event,
            EntityPersister persister,
            Object entity,
            Object id,
            @Nullable Object[] values,
            Set<Change> changes) {
        EntityRules rules = unit.jobs().rules(persister.getEntityName());
        if (rules != null) {
            RowState state = new RowState(persister, id, values);
            pass(
                    event,
                    new ChangedEntity(rules, entity, changes, null, unit.facts(persister, entity, id, state, null)));
        }
    }

    /** An update of no attribute is that of a version, or of a collection, which its own event tells. */
    @Override
    public void onPostUpdate(PostUpdateEvent event) {
        EntityPersister persister = event.getPersister();
        EntityRules rules = unit.jobs().rules(persister.getEntityName());
        if (rules == null) {
            return;
        }
        Set<String> dirty = Dirty.of(event);
        if (dirty == null || !dirty.isEmpty()) {
            Object id = event.getId();
            RowState state = new RowState(persister, id, event.getState());
            RowState old = event.getOldState() == null ? null : new RowState(persister, id, event.getOldState());
            EntityFacts facts = unit.facts(persister, event.getEntity(), id, state, old);
            pass(event, new ChangedEntity(rules, event.getEntity(), Set.of(Change.UPDATE), dirty, facts));
        }
    }

    @Override
    public void onPostDelete(PostDeleteEvent event) {
        EntityPersister persister = event.getPersister();
        EntityRules rules = unit.jobs().rules(persister.getEntityName());
        if (rules != null) {
            @Nullable Object[] values = event.getDeletedState(); // null from a stateless session
            RowState last = new RowState(
                    persister, event.getId(), values == null ? persister.getValues(event.getEntity()) : values);
            EntityFacts facts = unit.facts(persister, event.getEntity(), event.getId(), last, last);
            pass(event, new ChangedEntity(rules, event.getEntity(), Set.of(Change.REMOVE), null, facts));
        }
    }

    @Override
    public boolean requiresPostCommitHandling(EntityPersister persister) {
        return false;
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
