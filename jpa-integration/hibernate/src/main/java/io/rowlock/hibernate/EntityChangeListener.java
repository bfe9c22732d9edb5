package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.EntityFacts;
import io.rowlock.jpa.internal.EntityRules;
import java.util.Set;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
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

/** Hears of each row that was written, and passes on those of annotated entities. */
final class EntityChangeListener
        implements PostInsertEventListener, PostUpdateEventListener, PostDeleteEventListener, PostUpsertEventListener {
    private static final long serialVersionUID = 1L;

    private final transient HibernateUnit unit;

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
        Dirty dirty = Dirty.of(event);
        if (dirty == null || !dirty.isNothing()) {
            Object id = event.getId();
            RowState state = new RowState(persister, id, event.getState());
            RowState old = event.getOldState() == null ? null : new RowState(persister, id, event.getOldState());
            EntityFacts facts = unit.facts(persister, event.getEntity(), id, state, old);
            Set<String> paths = dirty == null ? null : dirty.paths();
            Set<String> beside = dirty == null ? Set.of() : dirty.beside();
            pass(event, new ChangedEntity(rules, event.getEntity(), Set.of(Change.UPDATE), paths, beside, facts));
        }
    }

    @Override
    public void onPostDelete(PostDeleteEvent event) {
        EntityPersister persister = event.getPersister();
        EntityRules rules = unit.jobs().rules(persister.getEntityName());
        if (rules != null) {
            RowState last = new RowState(persister, event.getId(), lastValues(event));
            EntityFacts facts = unit.facts(persister, event.getEntity(), event.getId(), last, last);
            pass(event, new ChangedEntity(rules, event.getEntity(), Set.of(Change.REMOVE), null, facts));
        }
    }

    private @Nullable Object[] lastValues(PostDeleteEvent event) {
        SharedSessionContractImplementor session = EventSessions.of(event);
        @Nullable Object[] read = session == null ? null : unit.deletedState(session, event.getEntity());
        @Nullable Object[] values = event.getDeletedState(); // null from a stateless session
        if (values == null) {
            return event.getPersister().getValues(event.getEntity());
        } else if (read == null) {
            return values;
        }
        @Nullable Object[] last = read.clone();
        for (int i = 0; i < last.length; i++) {
            last[i] = last[i] == LazyPropertyInitializer.UNFETCHED_PROPERTY ? values[i] : last[i];
        }
        return last;
    }

    @Override
    public boolean requiresPostCommitHandling(EntityPersister persister) {
        return false;
    }

    private void pass(AbstractEvent event, ChangedEntity change) {
        SharedSessionContractImplementor session = EventSessions.of(event);
        if (session != null) {
            unit.changed(session, change);
        } else if (change.changes().stream().anyMatch(change.rules()::about)) {
            unit.hiddenSessions().met(change.rules().entityName());
        }
    }
}
