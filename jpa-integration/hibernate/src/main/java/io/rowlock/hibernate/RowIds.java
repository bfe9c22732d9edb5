package io.rowlock.hibernate;

import io.rowlock.jpa.internal.IdText;
import io.rowlock.jpa.internal.RowName;
import java.util.LinkedHashMap;
import java.util.Map;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.BasicType;
import org.hibernate.type.CompositeType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/** Ids as text, and the names that rows go by. Loads nothing. */
final class RowIds {
    private final References references;
    private final Map<String, String> rootNames;

    /** @param rootNames of each entity the name in JPQL of the uppermost one it inherits from */
    RowIds(SessionFactoryImplementor factory, Map<String, String> rootNames) {
        this.references = new References(factory);
        this.rootNames = Map.copyOf(rootNames);
    }

    /** The name of the uppermost entity of an inheritance, by which all of its rows go. */
    String rootName(String entityName) {
        return rootNames.getOrDefault(entityName, entityName);
    }

    /** An id as text. */
    String text(Type type, Object id) {
        return type instanceof CompositeType composite
                ? IdText.of(attributes(composite, id))
                : String.valueOf(ofAttribute(type, id));
    }

    /** What a row is named by where an attribute names it; null where that is null. */
    @Nullable
    String ofAttribute(Type type, Object value) {
        Object plain = plain(type, value);
        return plain == null ? null : IdText.of(plain);
    }

    /** The row that a reference is to. */
    RowName ofReference(Type type, Object reference) {
        return ofReferred(references.entity(type, reference), references.id(reference));
    }

    RowName ofReferred(EntityPersister entity, Object id) {
        return new RowName(rootName(entity.getEntityName()), text(entity.getIdentifierType(), id));
    }

    private Map<String, @Nullable Object> attributes(CompositeType type, Object composite) {
        String[] names = type.getPropertyNames();
        Type[] types = type.getSubtypes();
        Object[] values = type.getPropertyValues(composite);
        Map<String, @Nullable Object> attributes = new LinkedHashMap<>();
        for (int i = 0; i < names.length; i++) {
            attributes.put(names[i], plain(types[i], values[i]));
        }
        return attributes;
    }

    /** As it is stored: a map of its attributes where it is composite; of a reference its id. */
    private @Nullable Object plain(Type type, @Nullable Object value) {
        if (value == null) {
            return null;
        }
        if (References.is(type)) {
            return plain(references.entity(type, value).getIdentifierType(), references.id(value));
        }
        if (type instanceof CompositeType nested && nested.getReturnedClass().isInstance(value)) {
            return attributes(nested, value);
        }
        return type instanceof BasicType<?> basic ? StoredText.of(basic, value) : value;
    }
}
