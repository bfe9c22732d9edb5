package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import java.util.Arrays;
import java.util.List;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.CompositeType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/** The values of an entity's attributes as Hibernate handed them to or took them from the row. Loads nothing. */
final class RowState {
    private final EntityPersister persister;
    private final Object id;
    private final @Nullable Object[] values;

    RowState(EntityPersister persister, Object id, @Nullable Object[] values) {
        this.persister = persister;
        this.id = id;
        this.values = values.clone(); // Hibernate goes on using its own
    }

    /** The value of an attribute, or path into an embedded object. */
    @Nullable
    Object value(String path) {
        String[] names = path.split("\\.", -1);
        Typed found = attribute(names[0]);
        if (found.value() == LazyPropertyInitializer.UNFETCHED_PROPERTY) {
            throw new InvalidUseException("Attribute " + path + " of " + persister.getEntityName() + " " + id
                    + " is lazy and was not loaded; read it from the entity, or make it eager");
        }
        for (int i = 1; i < names.length && found.value() != null; i++) {
            found = part((CompositeType) found.type(), found.value(), names[i]);
        }
        return found.value();
    }

    /** Whether the value of an attribute was loaded. */
    boolean has(String path) {
        int index = index(path);
        return index < 0 || values[index] != LazyPropertyInitializer.UNFETCHED_PROPERTY;
    }

    /** Whether the value of an attribute is at hand: of a collection, what it holds. */
    boolean isLoaded(String path) {
        return has(path)
                && !(value(path) instanceof PersistentCollection<?> collection && !collection.wasInitialized());
    }

    /** The type of an attribute, or path. */
    Type type(String path) {
        String[] names = path.split("\\.", -1);
        Type type = attribute(names[0]).type();
        for (int i = 1; i < names.length; i++) {
            CompositeType composite = (CompositeType) type;
            type = composite.getSubtypes()[List.of(composite.getPropertyNames()).indexOf(names[i])];
        }
        return type;
    }

    private record Typed(Type type, @Nullable Object value) {}

    private Typed attribute(String name) {
        int index = index(name);
        if (index >= 0) {
            return new Typed(persister.getPropertyTypes()[index], values[index]);
        }
        Type type = persister.getIdentifierType();
        boolean partOfId = !name.equals(persister.getIdentifierPropertyName())
                && type instanceof CompositeType composite
                && Arrays.asList(composite.getPropertyNames()).contains(name);
        return partOfId ? part((CompositeType) type, id, name) : new Typed(type, id);
    }

    private int index(String path) {
        int dot = path.indexOf('.');
        return Arrays.asList(persister.getPropertyNames()).indexOf(dot < 0 ? path : path.substring(0, dot));
    }

    private static Typed part(CompositeType type, Object composite, String name) {
        int index = Arrays.asList(type.getPropertyNames()).indexOf(name);
        return new Typed(type.getSubtypes()[index], type.getPropertyValues(composite)[index]);
    }
}
