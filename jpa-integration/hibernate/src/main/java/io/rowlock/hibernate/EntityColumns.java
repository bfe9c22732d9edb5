package io.rowlock.hibernate;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.hibernate.mapping.Collection;
import org.hibernate.mapping.Component;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;

/** Which attributes of an entity, and paths into its embedded objects, its columns store. */
final class EntityColumns {
    private final Map<String, Set<String>> columns = new HashMap<>();

    private EntityColumns(PersistentClass entity) {
        entity.getPropertyClosure().forEach(property -> add("", property));
        if (entity.getIdentifierProperty() != null) {
            add("", entity.getIdentifierProperty());
        }
        if (entity.getIdentifierMapper() != null) {
            entity.getIdentifierMapper().getProperties().forEach(each -> add("", each));
        }
        if (entity.getVersion() != null) { // its changes alone make no job
            entity.getVersion().getColumns().forEach(column -> columns.put(normal(column.getName()), Set.of()));
        }
    }

    /** By their names, as {@link TouchedTable#normal} writes them. That of the version stores no attribute. */
    static Map<String, Set<String>> of(PersistentClass entity) {
        return new EntityColumns(entity).columns;
    }

    private void add(String before, Property property) {
        String path = before + property.getName();
        if (property.getValue() instanceof Component embedded) {
            embedded.getProperties().forEach(part -> add(path + ".", part));
        } else if (!(property.getValue() instanceof Collection)) {
            property.getColumns()
                    .forEach(column -> columns.computeIfAbsent(normal(column.getName()), added -> new HashSet<>())
                            .add(path));
        }
    }

    private static String normal(String column) {
        return TouchedTable.normal(column);
    }
}
