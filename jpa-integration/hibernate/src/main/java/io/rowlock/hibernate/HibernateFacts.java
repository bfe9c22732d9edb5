package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.internal.EntityFacts;
import io.rowlock.jpa.internal.IdText;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.CompositeType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/** Id, version and attributes of an entity, through its persister. Loads nothing. */
final class HibernateFacts implements EntityFacts {
    private final EntityPersister persister;
    private final Object entity;
    private final Object id;
    private @Nullable String idText;

    HibernateFacts(EntityPersister persister, Object entity, Object id) {
        this.persister = persister;
        this.entity = entity;
        this.id = id;
    }

    @Override
    public String id() {
        String text = idText;
        if (text == null) {
            text = persister.getIdentifierType() instanceof CompositeType type
                    ? IdText.of(attributes(type, id))
                    : IdText.of(id);
            idText = text;
        }
        return text;
    }

    private Map<String, @Nullable Object> attributes(CompositeType type, Object composite) {
        String[] names = type.getPropertyNames();
        Type[] types = type.getSubtypes();
        Object[] values = type.getPropertyValues(composite);
        Map<String, @Nullable Object> attributes = new LinkedHashMap<>();
        for (int i = 0; i < names.length; i++) {
            attributes.put(names[i], attribute(types[i], values[i]));
        }
        return attributes;
    }

    private @Nullable Object attribute(Type type, @Nullable Object value) {
        if (value != null
                && type instanceof CompositeType nested
                && nested.getReturnedClass().isInstance(value)) {
            return attributes(nested, value);
        }
        return value != null && type.isEntityType() ? identifier(value) : value;
    }

    /** The id of an entity in the id; an id class holds that id itself already. */
    private Object identifier(Object reference) {
        try {
            return persister.getFactory().getPersistenceUnitUtil().getIdentifier(reference);
        } catch (IllegalArgumentException notAnEntity) {
            return reference;
        }
    }

    @Override
    public @Nullable String version() {
        Object version = persister.isVersioned() ? persister.getVersion(entity) : null;
        return version == null ? null : version.toString();
    }

    @Override
    public Runnable watch() {
        @Nullable Object[] before = persister.getValues(entity);
        return () -> {
            @Nullable Object[] after = persister.getValues(entity);
            for (int i = 0; i < before.length; i++) {
                boolean fetched = before[i] != LazyPropertyInitializer.UNFETCHED_PROPERTY;
                if (fetched && before[i] != after[i] && !Objects.equals(before[i], after[i])) {
                    throw new InvalidUseException("A payload method of " + persister.getEntityName() + " " + id()
                            + " modified attribute " + persister.getPropertyNames()[i]
                            + "; a payload method must not modify entities. The transaction must roll back");
                }
            }
        };
    }
}
