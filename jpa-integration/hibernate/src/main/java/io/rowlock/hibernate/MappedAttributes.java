package io.rowlock.hibernate;

import io.rowlock.jpa.internal.AttributeRole;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hibernate.engine.spi.PersistentAttributeInterceptable;
import org.hibernate.mapping.BasicValue;
import org.hibernate.mapping.Collection;
import org.hibernate.mapping.Column;
import org.hibernate.mapping.Component;
import org.hibernate.mapping.OneToOne;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Property;
import org.hibernate.mapping.Value;

/** The attributes of an entity and the paths into its embedded objects, with what each is to annotations. */
final class MappedAttributes {
    /** Hibernate's own, of an @IdClass; its constant stands in a class that does not compile without further annotations. */
    private static final String IDENTIFIER_MAPPER = "_identifierMapper";

    private final Map<String, AttributeRole> roles = new HashMap<>();
    private final List<Column> identifier;
    private final boolean enhanced;

    private MappedAttributes(PersistentClass entity) {
        this.identifier = entity.getIdentifier().getColumns();
        this.enhanced = PersistentAttributeInterceptable.class.isAssignableFrom(entity.getMappedClass());
        entity.getPropertyClosure().stream()
                .filter(property -> !isHibernates(property))
                .forEach(property -> add("", entity.getMappedClass(), property, false));
        if (entity.getIdentifierProperty() != null) {
            addIdentifier("", entity.getIdentifierProperty());
        }
        if (entity.getIdentifierMapper() != null) { // of an @IdClass
            entity.getIdentifierMapper().getProperties().forEach(each -> addIdentifier("", each));
        }
        if (entity.getVersion() != null) {
            roles.put(entity.getVersion().getName(), AttributeRole.VERSION);
        }
    }

    static Map<String, AttributeRole> of(PersistentClass entity) {
        return new MappedAttributes(entity).roles;
    }

    /** Whether Hibernate added it to those of the application: for references to other columns than the id, and such. */
    private static boolean isHibernates(Property property) {
        return property.isBackRef()
                || property.isSynthetic()
                || property.getName().equals(IDENTIFIER_MAPPER);
    }

    private void addIdentifier(String before, Property property) {
        String path = before + property.getName();
        roles.put(path, AttributeRole.IDENTIFIER);
        if (property.getValue() instanceof Component embedded) {
            embedded.getProperties().forEach(part -> addIdentifier(path + ".", part));
        }
    }

    /** @param lazy whether it is part of an embedded object that is loaded lazily */
    private void add(String before, Class<?> owner, Property property, boolean lazy) {
        String path = before + property.getName();
        roles.put(path, role(owner, property, lazy));
        if (property.getValue() instanceof Component embedded && embedded.getComponentClassName() != null) {
            boolean all = lazy || property.isLazy();
            embedded.getProperties().forEach(part -> add(path + ".", embedded.getComponentClass(), part, all));
        }
    }

    private AttributeRole role(Class<?> owner, Property property, boolean lazy) {
        Value value = property.getValue();
        if (value instanceof Collection collection) {
            return collection.isInverse() ? AttributeRole.INVERSE : AttributeRole.COLLECTION;
        } else if (value instanceof Component) {
            return AttributeRole.EMBEDDED;
        } else if (value instanceof OneToOne one) {
            return one.getMappedByProperty() == null ? AttributeRole.CHANGEABLE : AttributeRole.INVERSE;
        } else if (value instanceof BasicValue) {
            return basic(owner, property, lazy);
        }
        return reference(property);
    }

    /** One in columns of the id is written with that. */
    private AttributeRole reference(Property property) {
        if (property.isUpdateable()) {
            return AttributeRole.CHANGEABLE;
        }
        return property.isInsertable() || identifier.containsAll(property.getColumns())
                ? AttributeRole.FIXED
                : AttributeRole.READ_ONLY;
    }

    private AttributeRole basic(Class<?> owner, Property property, boolean lazy) {
        boolean generated = property.getValueGeneratorCreator() != null;
        if (property.getValue().hasFormula()) {
            return AttributeRole.COMPUTED;
        } else if (generated && DatabaseValues.areMadeAtUpdates(owner, property.getName())) {
            return AttributeRole.GENERATED;
        } else if (!property.isUpdateable()) {
            return generated || property.isInsertable() ? AttributeRole.FIXED : AttributeRole.READ_ONLY;
        }
        if (enhanced && (lazy || property.isLazy())) {
            return AttributeRole.LAZY;
        }
        return StoredText.has(property.getValue().getType()) ? AttributeRole.CHANGEABLE : AttributeRole.WITHOUT_TEXT;
    }
}
