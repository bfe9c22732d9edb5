package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.internal.EntityFacts;
import io.rowlock.jpa.internal.RowName;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.metamodel.mapping.EntityValuedModelPart;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/** Id, version and attributes of an entity, through its persister. Loads nothing. */
final class HibernateFacts implements EntityFacts {
    private final RowIds ids;
    private final EntityPersister persister;
    private final Object entity;
    private final Object id;
    private final RowState state;
    private final @Nullable RowState oldState;
    private final Map<String, CollectionContents> collections;
    private final boolean isOfRow;
    private @Nullable String idText;

    /**
     * @param oldState the row before, or null if that is not known
     * @param isOfRow false if nothing but collections was written
     */
    HibernateFacts(
            RowIds ids,
            EntityPersister persister,
            Object entity,
            Object id,
            RowState state,
            @Nullable RowState oldState,
            Map<String, CollectionContents> collections,
            boolean isOfRow) {
        this.ids = ids;
        this.persister = persister;
        this.entity = entity;
        this.id = id;
        this.state = state;
        this.oldState = oldState;
        this.collections = Map.copyOf(collections);
        this.isOfRow = isOfRow;
    }

    @Override
    public String id() {
        String text = idText;
        if (text == null) {
            text = ids.text(persister.getIdentifierType(), id);
            idText = text;
        }
        return text;
    }

    @Override
    public @Nullable String version() {
        Object version = persister.isVersioned() ? persister.getVersion(entity) : null;
        return version == null ? null : version.toString();
    }

    @Override
    public boolean knowsOld(String path) {
        CollectionContents contents = collections.get(path);
        return contents == null ? oldState != null && oldState.isLoaded(path) : contents.old() != null;
    }

    @Override
    public @Nullable Object old(String path) {
        CollectionContents contents = collections.get(path);
        return contents == null
                ? Objects.requireNonNull(oldState, "ask knowsOld first").value(path)
                : contents.old();
    }

    @Override
    public boolean knowsCurrent(String path) {
        return state.has(path);
    }

    @Override
    public @Nullable Object current(String path) {
        return state.value(path);
    }

    @Override
    public boolean isUnchanged(String path) {
        CollectionContents contents = collections.get(path);
        return contents != null && contents.isUnchanged();
    }

    @Override
    public @Nullable RowName belongsTo(String path) {
        if (path.equals(persister.getIdentifierPropertyName())) {
            return new RowName(ids.rootName(persister.getEntityName()), id());
        }
        Object value = current(path);
        if (value == null) {
            return null;
        }
        Type type = state.type(path);
        if (References.is(type)) {
            return ids.ofReference(type, value);
        }
        if (persister.findSubPart(path, null) instanceof EntityValuedModelPart reference) {
            return ids.ofReferred(reference.getEntityMappingType().getEntityPersister(), value); // of an @IdClass
        }
        String text = ids.ofAttribute(type, value);
        return text == null ? null : new RowName(ids.rootName(persister.getEntityName()) + "." + path, text);
    }

    @Override
    public EntityFacts since(EntityFacts before) {
        HibernateFacts earlier = (HibernateFacts) before;
        Map<String, CollectionContents> both = new HashMap<>(earlier.collections);
        collections.forEach((path, contents) -> both.merge(path, contents, CollectionContents::andThen));
        RowState old = earlier.isOfRow || earlier.oldState != null ? earlier.oldState : oldState;
        return new HibernateFacts(ids, persister, entity, id, state, old, both, earlier.isOfRow || isOfRow);
    }

    @Override
    public Runnable watch() {
        @Nullable Object[] before = persister.getValues(entity);
        return () -> {
            @Nullable Object[] after = persister.getValues(entity);
            for (int i = 0; i < before.length; i++) {
                boolean fetched = before[i] != LazyPropertyInitializer.UNFETCHED_PROPERTY;
                if (fetched && !isSame(persister.getPropertyTypes()[i], before[i], after[i])) {
                    throw new InvalidUseException("A payload method of " + persister.getEntityName() + " " + id()
                            + " modified attribute " + persister.getPropertyNames()[i]
                            + "; a payload method must not modify entities. The transaction must roll back");
                }
            }
        };
    }

    /** A getter may make a new object at each call. */
    private boolean isSame(Type type, @Nullable Object before, @Nullable Object after) {
        if (before == after || Objects.equals(before, after)) {
            return true;
        }
        return !type.isCollectionType()
                && !References.is(type)
                && new StoredValues(persister.getFactory()).alike(type, before, after);
    }
}
