package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.EntityFacts;
import io.rowlock.jpa.internal.EntityRules;
import java.util.Map;
import java.util.Set;
import org.hibernate.collection.spi.AbstractPersistentCollection;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.engine.spi.CollectionEntry;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.AbstractCollectionEvent;
import org.hibernate.event.spi.PreCollectionRecreateEvent;
import org.hibernate.event.spi.PreCollectionRecreateEventListener;
import org.hibernate.event.spi.PreCollectionRemoveEvent;
import org.hibernate.event.spi.PreCollectionRemoveEventListener;
import org.hibernate.event.spi.PreCollectionUpdateEvent;
import org.hibernate.event.spi.PreCollectionUpdateEventListener;
import org.hibernate.persister.collection.CollectionPersister;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Hears of the rows of each collection that a flush is about to write, while what it held before is still known, and
 * passes on those of collections that annotated entities own, as updates of these.
 */
final class CollectionChangeListener
        implements PreCollectionRecreateEventListener,
                PreCollectionUpdateEventListener,
                PreCollectionRemoveEventListener {
    private static final long serialVersionUID = 1L;

    private final transient HibernateUnit unit;

    CollectionChangeListener(HibernateUnit unit) {
        this.unit = unit;
    }

    /** The entity has another collection object than before, or its first one. */
    @Override
    public void onPreRecreateCollection(PreCollectionRecreateEvent event) {
        changed(event, Kind.RECREATE);
    }

    @Override
    public void onPreUpdateCollection(PreCollectionUpdateEvent event) {
        changed(event, Kind.UPDATE);
    }

    /** The entity has another collection object now, or none, or is being removed. */
    @Override
    public void onPreRemoveCollection(PreCollectionRemoveEvent event) {
        changed(event, Kind.REMOVE);
    }

    private enum Kind {
        RECREATE,
        UPDATE,
        REMOVE;

        CollectionContents contents(CollectionPersister persister, PersistentCollection<?> collection) {
            CollectionRows rows = new CollectionRows(persister);
            return switch (this) {
                case RECREATE -> CollectionContents.created(rows, collection);
                case UPDATE -> CollectionContents.updated(rows, collection);
                case REMOVE -> CollectionContents.removed(rows, collection);
            };
        }
    }

    private void changed(AbstractCollectionEvent event, Kind kind) {
        SharedSessionContractImplementor session = session(event.getCollection());
        Object owner = owner(event);
        if (session == null || owner == null || !unit.collects(session)) {
            return; // a stateless session: its event of the entity says it all
        }
        PersistenceContext context = session.getPersistenceContextInternal();
        EntityEntry entry = context.getEntry(owner);
        EntityRules rules =
                entry == null ? null : unit.jobs().rules(entry.getPersister().getEntityName());
        CollectionPersister collection = persister(context.getCollectionEntry(event.getCollection()), kind);
        if (entry == null || rules == null || collection == null) {
            return;
        }
        boolean firstOfItsRow = kind == Kind.RECREATE && unit.wasInsertedBefore(session, owner);
        boolean wanted = rules.about(Change.UPDATE) || (kind == Kind.REMOVE && rules.about(Change.REMOVE));
        if (firstOfItsRow || !wanted) {
            return;
        }
        boolean owned = !collection.isInverse();
        if (owned && rules.about(Change.UPDATE)) {
            unit.requireJob(session, rules, Change.UPDATE);
        }
        CollectionContents contents = kind.contents(collection, event.getCollection());
        unit.changed(session, update(rules, owner, entry, path(collection), owned, contents));
    }

    /** The event does not know it where the rows refer to another column than its id. */
    private static @Nullable Object owner(AbstractCollectionEvent event) {
        Object affected = event.getAffectedOwnerOrNull();
        return affected == null ? event.getCollection().getOwner() : affected;
    }

    /** One of no attribute where another entity stores the collection: then only what it held is of use, if to others. */
    private ChangedEntity update(
            EntityRules rules,
            Object owner,
            EntityEntry entry,
            String path,
            boolean owned,
            CollectionContents contents) {
        EntityPersister persister = entry.getPersister();
        @Nullable Object[] loaded = entry.getLoadedState();
        RowState state = new RowState(persister, entry.getId(), loaded == null ? persister.getValues(owner) : loaded);
        EntityFacts facts = new HibernateFacts(
                unit.ids(),
                persister,
                owner,
                entry.getId(),
                state,
                loaded == null ? null : state,
                Map.of(path, contents),
                false);
        return new ChangedEntity(rules, owner, Set.of(Change.UPDATE), owned ? Set.of(path) : Set.of(), facts);
    }

    private static @Nullable SharedSessionContractImplementor session(PersistentCollection<?> collection) {
        return collection instanceof AbstractPersistentCollection<?> usual ? usual.getSession() : null;
    }

    private static @Nullable CollectionPersister persister(@Nullable CollectionEntry entry, Kind kind) {
        if (entry == null) {
            return null;
        }
        return kind == Kind.REMOVE ? entry.getLoadedPersister() : entry.getCurrentPersister();
    }

    /** The role of a collection is its path in the entity that declares it, after the name of that. */
    private static String path(CollectionPersister collection) {
        String declaring = collection.getOwnerEntityPersister().getEntityName();
        return collection.getRole().substring(declaring.length() + 1);
    }
}
