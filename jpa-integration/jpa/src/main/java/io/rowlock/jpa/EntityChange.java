package io.rowlock.jpa;

import io.rowlock.error.InvalidUseException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What happened to an entity in one flush: taken by payload methods and by {@link PayloadFactory}. For the duration of
 * the call only, by the calling thread. Loads nothing.
 *
 * <p>Attributes are named as in {@link OutboxJob#changed()}: {@code "status"}, or a path into an embedded object,
 * {@code "address.city"}. A reference is given as the entity itself, perhaps not loaded; a collection as it is in the
 * entity, which must not be modified.
 *
 * @param <T> the entity's type
 */
public interface EntityChange<T> {
    /**
     * The entity, with the state that was written.
     *
     * @return the instance that the application changed
     */
    T entity();

    /**
     * What happened, among the changes named in {@link OutboxJob#on()}.
     *
     * @return for an upsert, of which nobody tells whether it inserted or updated, {@link Change#PERSIST} where the
     *     annotation names it, else {@link Change#UPDATE}
     */
    Change operation();

    /**
     * The attributes that an update changed, paths into embedded objects where these are known.
     *
     * @return without the version and without {@code mappedBy} collections; empty unless the operation is
     *     {@link Change#UPDATE}, and where the provider cannot tell
     */
    Set<String> dirtyAttributes();

    /**
     * Whether an attribute, or something in it, may have changed.
     *
     * @param attribute the attribute
     * @return true for what was inserted or deleted, and where the provider cannot tell what an update changed
     * @throws InvalidUseException if the entity has no such attribute
     */
    boolean changed(String attribute);

    /**
     * Whether {@link #oldValue} can tell the value of an attribute.
     *
     * @param attribute the attribute
     * @return false where the provider never read the row before, as in a stateless session or for a detached entity
     *     that was attached again; and for a collection or a lazy attribute that was not loaded
     * @throws InvalidUseException if the entity has no such attribute
     */
    boolean knowsOldValue(String attribute);

    /**
     * The value before the change.
     *
     * @param attribute the attribute
     * @return null for a row that was inserted
     * @throws InvalidUseException if the entity has no such attribute, or its old value is not known
     */
    @Nullable
    Object oldValue(String attribute);

    /**
     * Whether {@link #newValue} can tell the value of an attribute.
     *
     * @param attribute the attribute
     * @return false for a lazy attribute of an enhanced entity that was neither loaded nor set: the update did not change
     *     it; read it from {@link #entity()}, which loads it, where it is needed all the same
     * @throws InvalidUseException if the entity has no such attribute
     */
    boolean knowsNewValue(String attribute);

    /**
     * The value after the change, as it was sent to the database.
     *
     * @param attribute the attribute
     * @return null for a row that was deleted
     * @throws InvalidUseException if the entity has no such attribute, or its new value is not known
     */
    @Nullable
    Object newValue(String attribute);
}
