package io.rowlock.hibernate;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.metamodel.mapping.EntityVersionMapping;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.CompositeType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/**
 * Which attributes an update changed, down to those in embedded objects. Collections are left out, as collection events
 * tell of them, and the version, and what the update did not write. Where it writes all columns, what Hibernate takes for
 * unchanged, because its equals says so, may be stored differently all the same.
 */
final class Dirty {
    private final EntityPersister persister;
    private final StoredValues stored;
    private final WrittenColumns written;
    private final Set<String> paths = new HashSet<>();
    private final Set<String> beside = new HashSet<>();

    private Dirty(EntityPersister persister, Object entity) {
        this.persister = persister;
        this.written = new WrittenColumns(persister, entity);
        this.stored = new StoredValues(persister.getFactory());
    }

    /** Null where Hibernate does not know. */
    static @Nullable Dirty of(PostUpdateEvent event) {
        int[] indexes = event.getDirtyProperties();
        if (indexes == null) {
            return null;
        }
        EntityPersister persister = event.getPersister();
        Dirty dirty = new Dirty(persister, event.getEntity());
        BitSet changed = new BitSet();
        for (int index : indexes) {
            changed.set(index);
        }
        @Nullable Object[] old = event.getOldState();
        int version = version(persister);
        for (int i = 0; i < persister.getPropertyTypes().length; i++) {
            String name = persister.getPropertyNames()[i];
            Type type = persister.getPropertyTypes()[i];
            if (i == version) {
                continue;
            }
            if (changed.get(i) && dirty.written.mayWrite(i)) {
                dirty.add(name, type, values(old, event.getState(), i));
            } else if (old != null && dirty.written.isMadeAnew(i)) {
                dirty.addBeside(name, type, old[i], event.getState()[i]);
            } else if (old != null && dirty.written.writesUnchanged(i)) {
                dirty.addIfEqualsLies(name, type, old[i], event.getState()[i]);
            }
        }
        return dirty;
    }

    /** The attributes or paths that the application changed. */
    Set<String> paths() {
        return paths;
    }

    /** The attributes that Hibernate changed with them, as it does at each update. */
    Set<String> beside() {
        return beside;
    }

    boolean isNothing() {
        return paths.isEmpty() && beside.isEmpty();
    }

    private void addBeside(String name, Type type, @Nullable Object old, @Nullable Object now) {
        if (old != LazyPropertyInitializer.UNFETCHED_PROPERTY && !stored.alike(type, old, now)) {
            beside.add(name);
        }
    }

    private static @Nullable Object @Nullable [] values(
            @Nullable Object @Nullable [] old, @Nullable Object[] now, int index) {
        if (old == null || old[index] == LazyPropertyInitializer.UNFETCHED_PROPERTY) {
            return null;
        }
        return new Object[] {old[index], now[index]};
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
        if (values != null && isEmbedded(type)) {
            addParts(path, (CompositeType) type, values[0], values[1]);
        } else if (values == null || type.isEntityType() || !stored.alike(type, values[0], values[1])) {
            paths.add(path);
        }
    }

    private void addParts(String path, CompositeType type, @Nullable Object old, @Nullable Object now) {
        @Nullable Object[] before = old == null ? new Object[type.getSubtypes().length] : type.getPropertyValues(old);
        @Nullable Object[] after = now == null ? new Object[type.getSubtypes().length] : type.getPropertyValues(now);
        for (int i = 0; i < before.length; i++) {
            Type part = type.getSubtypes()[i];
            String name = path + "." + type.getPropertyNames()[i];
            if (!written.mayWrite(name)) {
                continue;
            }
            if (part.isEqual(before[i], after[i], persister.getFactory())) {
                addIfEqualsLies(name, part, before[i], after[i]);
            } else {
                add(name, part, new Object[] {before[i], after[i]});
            }
        }
    }

    private void addIfEqualsLies(String path, Type type, @Nullable Object old, @Nullable Object now) {
        if (old == now || !type.getReturnedClass().isInstance(old) || now == null) {
            return; // a lazy attribute may hold Hibernate's mark for it
        }
        if (isEmbedded(type)) {
            addParts(path, (CompositeType) type, old, now);
        } else if (StoredValues.mayLie(type) && !stored.alike(type, old, now)) {
            paths.add(path);
        }
    }

    /** Hibernate counts {@code @Any} as composite: of the name of an entity and an id. */
    private static boolean isEmbedded(Type type) {
        return type instanceof CompositeType && !References.is(type);
    }
}
