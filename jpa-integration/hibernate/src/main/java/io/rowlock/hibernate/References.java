package io.rowlock.hibernate;

import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.AnyType;
import org.hibernate.type.EntityType;
import org.hibernate.type.Type;

/** Which rows references are to, whether what they are to was loaded or not. Loads nothing. */
final class References {
    private final SessionFactoryImplementor factory;

    References(SessionFactoryImplementor factory) {
        this.factory = factory;
    }

    /** Whether values of the type are references, those by {@code @Any} too, which may be to rows of several entities. */
    static boolean is(Type type) {
        return type instanceof EntityType || type instanceof AnyType;
    }

    /** The entity that a reference is to, or the one that its type names where it was not loaded. */
    EntityPersister entity(Type type, Object reference) {
        String name = type instanceof EntityType named
                ? named.getAssociatedEntityName()
                : factory.bestGuessEntityName(reference);
        return factory.getMappingMetamodel().getEntityDescriptor(name);
    }

    /** The id of what it is to; an id class holds that id itself already. */
    Object id(Object reference) {
        try {
            return factory.getPersistenceUnitUtil().getIdentifier(reference);
        } catch (IllegalArgumentException notAnEntity) {
            return reference;
        }
    }
}
