package io.rowlock.jpa.internal;

import java.util.Map;
import java.util.Set;

/**
 * What an adapter tells of an entity.
 *
 * @param key what the adapter looks the entity up by when it changes
 * @param name the entity's name in JPQL
 * @param javaClass its class
 * @param attributes the names of all its attributes, inherited ones too, and the paths into embedded objects
 * @param embeddables the classes embedded in it, at any depth
 */
public record EntityType(
        String key, String name, Class<?> javaClass, Map<String, AttributeRole> attributes, Set<Class<?>> embeddables) {
    public EntityType {
        attributes = Map.copyOf(attributes);
        embeddables = Set.copyOf(embeddables);
    }
}
