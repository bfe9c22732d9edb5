package io.rowlock.hibernate;

import java.util.HashSet;
import java.util.Set;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.metamodel.mapping.EntityVersionMapping;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.CompositeType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/**
 * Which attributes an update changed, down to those in embedded objects. Collections are left out, as collection events
 * tell of them, and the version.
 */
final class Dirty {
    private final EntityPersister persister;
    private final @Nullable SharedSessionContractImplementor session;
    private final Set<String> paths = new HashSet<>();

    private Dirty(EntityPersister persister, @Nullable SharedSessionContractImplementor session) {
        this.persister = persister;
        this.session = session;
    }

    /** The attributes or paths, or null where Hibernate does not know. */
    static @Nullable Set<String> of(PostUpdateEvent event) {
        int[] indexes = event.getDirtyProperties();
        if (indexes == null) {
            return null;
        }
        EntityPersister persister = event.getPersister();
        Dirty dirty = new Dirty(persister, EventSessions.of(event));
        @Nullable Object[] old = event.getOldState();
        for (int index : indexes) {
            if (index != version(persister)) {
                dirty.add(
                        persister.getPropertyNames()[index],
                        persister.getPropertyTypes()[index],
                        old == null ? null : new Object[] {old[index], event.getState()[index]});
            }
        }
        return dirty.paths;
    }

    /** The index of the version, or -1. The persister's own method for this has another name since Hibernate 7. */
    private static int version(EntityPersister persister) {
        EntityVersionMapping version = persister.getVersionMapping();
        return version == null ? -1 : version.getVersionAttribute().getStateArrayPosition();
    }

    /** @param values the old and the new one, or null if the old one is not known */
    private void add(String path, Type type, @Nullable Object @Nullable [] values) {
        if (type.isCollectionType()) {
            return;
        }
        if (values != null && type instanceof CompositeType composite) {
            addParts(path, composite, values[0], values[1]);
        } else if (values == null || !StoredValues.alike(type, values[0], values[1], session)) {
            paths.add(path);
        }
    }

    private void addParts(String path, CompositeType type, @Nullable Object old, @Nullable Object now) {
        @Nullable Object[] before = old == null ? new Object[type.getSubtypes().length] : type.getPropertyValues(old);
        @Nullable Object[] after = now == null ? new Object[type.getSubtypes().length] : type.getPropertyValues(now);
        for (int i = 0; i < before.length; i++) {
            Type part = type.getSubtypes()[i];
            if (!part.isEqual(before[i], after[i], persister.getFactory())) {
                add(path + "." + type.getPropertyNames()[i], part, new Object[] {before[i], after[i]});
            }
        }
    }
}
