package io.rowlock.hibernate;

import io.rowlock.jpa.internal.AttributeRole;
import io.rowlock.jpa.internal.EntityType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hibernate.boot.Metadata;
import org.hibernate.engine.spi.PersistentAttributeInterceptable;
import org.hibernate.mapping.BasicValue;
import org.hibernate.mapping.Collection;
import org.hibernate.mapping.Component;
import org.hibernate.mapping.OneToOne;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;
import org.hibernate.mapping.ToOne;
import org.hibernate.mapping.Value;

/** The entities of a unit, as Hibernate's boot model tells them: the runtime model does not exist yet at that time. */
final class MappedEntities {
    private MappedEntities() {}

    static List<EntityType> of(Metadata metadata) {
        List<EntityType> types = new ArrayList<>();
        for (PersistentClass entity : metadata.getEntityBindings()) {
            if (entity.getClassName() != null) {
                types.add(type(entity));
            }
        }
        return types;
    }

    private static EntityType type(PersistentClass entity) {
        Set<Class<?>> embeddables = new HashSet<>();
        entity.getPropertyClosure().forEach(property -> addEmbeddables(property.getValue(), embeddables));
        addEmbeddables(entity.getIdentifier(), embeddables);
        embeddables.remove(entity.getMappedClass());
        return new EntityType(
                entity.getEntityName(),
                entity.getJpaEntityName(),
                entity.getMappedClass(),
                attributes(entity),
                embeddables);
    }

    private static void addEmbeddables(Value value, Set<Class<?>> embeddables) {
        if (value instanceof Component component && component.getComponentClassName() != null) {
            embeddables.add(component.getComponentClass());
            component.getProperties().forEach(property -> addEmbeddables(property.getValue(), embeddables));
        } else if (value instanceof Collection collection) {
            addEmbeddables(collection.getElement(), embeddables);
        }
    }

    /** Of each entity the JPQL name of the uppermost one it inherits from. */
    static Map<String, String> rootNames(Metadata metadata) {
        Map<String, String> names = new HashMap<>();
        for (PersistentClass entity : metadata.getEntityBindings()) {
            String root = entity.getRootClass().getJpaEntityName();
            names.put(
                    entity.getEntityName(), root == null ? entity.getRootClass().getEntityName() : root);
        }
        return names;
    }

    private static Map<String, AttributeRole> attributes(PersistentClass entity) {
        Map<String, AttributeRole> attributes = new HashMap<>();
        boolean enhanced = PersistentAttributeInterceptable.class.isAssignableFrom(entity.getMappedClass());
        entity.getPropertyClosure().forEach(property -> add("", property, enhanced && isLazy(property), attributes));
        if (entity.getIdentifierProperty() != null) {
            attributes.put(entity.getIdentifierProperty().getName(), AttributeRole.IDENTIFIER);
        }
        Component idClass = entity.getIdentifierMapper();
        if (idClass != null) {
            idClass.getProperties().forEach(each -> attributes.put(each.getName(), AttributeRole.IDENTIFIER));
        }
        if (entity.getVersion() != null) {
            attributes.put(entity.getVersion().getName(), AttributeRole.VERSION);
        }
        attributes.keySet().removeIf(name -> name.startsWith("_"));
        return attributes;
    }

    private static void add(String before, Property property, boolean lazy, Map<String, AttributeRole> attributes) {
        String path = before + property.getName();
        AttributeRole role = role(property);
        attributes.put(path, lazy && role == AttributeRole.CHANGEABLE ? AttributeRole.LAZY : role);
        if (property.getValue() instanceof Component embedded) {
            embedded.getProperties().forEach(part -> add(path + ".", part, lazy, attributes));
        }
    }

    /** Of a reference the foreign key is always loaded. */
    private static boolean isLazy(Property property) {
        return property.isLazy() && !(property.getValue() instanceof ToOne);
    }

    private static AttributeRole role(Property property) {
        Value value = property.getValue();
        if (value instanceof Collection collection) {
            return collection.isInverse() ? AttributeRole.INVERSE : AttributeRole.COLLECTION;
        }
        if (value instanceof Component) {
            return AttributeRole.EMBEDDED;
        }
        if (value instanceof OneToOne one && one.getMappedByProperty() != null) {
            return AttributeRole.INVERSE;
        }
        boolean text = !(value instanceof BasicValue basic) || StoredText.has(basic.getType());
        return text ? AttributeRole.CHANGEABLE : AttributeRole.WITHOUT_TEXT;
    }
}
