package io.rowlock.hibernate;

import io.rowlock.jpa.internal.EntityType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hibernate.boot.Metadata;
import org.hibernate.mapping.Collection;
import org.hibernate.mapping.Component;
import org.hibernate.mapping.PersistentClass;
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
                MappedAttributes.of(entity),
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
}
