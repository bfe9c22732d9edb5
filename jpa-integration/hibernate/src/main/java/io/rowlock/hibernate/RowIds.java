package io.rowlock.hibernate;

import io.rowlock.jpa.internal.IdText;
import java.util.LinkedHashMap;
import java.util.Map;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.type.CompositeType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/** Ids as text, and the names that rows go by. Loads nothing. */
final class RowIds {
    private final SessionFactoryImplementor factory;
    private final Map<String, String> rootNames;

    /** @param rootNames of each entity the name in JPQL of the uppermost one it inherits from */
    RowIds(SessionFactoryImplementor factory, Map<String, String> rootNames) {
        this.factory = factory;
        this.rootNames = Map.copyOf(rootNames);
    }

    /** The name of the uppermost entity of an inheritance, by which all of its rows go. */
    String rootName(String entityName) {
        return rootNames.getOrDefault(entityName, entityName);
    }

    /** An id, or another value, as text. */
    String text(Type type, Object value) {
        return type instanceof CompositeType composite ? IdText.of(attributes(composite, value)) : IdText.of(value);
    }

    /** The id of an entity that a reference is to, loaded or not. */
    String ofReference(String entityName, Object reference) {
        Type type =
                factory.getMappingMetamodel().getEntityDescriptor(entityName).getIdentifierType();
        return text(type, identifier(reference));
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
            return factory.getPersistenceUnitUtil().getIdentifier(reference);
        } catch (IllegalArgumentException notAnEntity) {
            return reference;
        }
    }
}
