package io.rowlock.jpa.internal;

import org.jspecify.annotations.Nullable;

/** What an adapter can tell of a changed entity; asked when the payload is made, not before. Loads nothing. */
public interface EntityFacts {
    /** The id as text, see {@link IdText}. */
    String id();

    /** The version attribute's value as text, or null if there is none. */
    @Nullable
    String version();

    /** Whether the value of an attribute, or path, before the change is known. */
    boolean knowsOld(String path);

    /** The value of an attribute, or path, before the change, where that is known; null for a row that was inserted. */
    @Nullable
    Object old(String path);

    /** Whether the value of an attribute, or path, after the change is known. */
    boolean knowsCurrent(String path);

    /** The value of an attribute, or path, after the change, where that is known; in a row that was deleted, the last one. */
    @Nullable
    Object current(String path);

    /** Whether a collection that the flush wrote, after all, holds what it held before. */
    boolean isUnchanged(String path);

    /** What the row, by the value of this attribute, belongs to; null where the value is null. */
    @Nullable
    RowName belongsTo(String path);

    /** These facts with what an earlier change of the same flush knew of the time before it. */
    EntityFacts since(EntityFacts earlier);

    /** Remembers the entity's attributes. Running the answer throws if one of them is another now. */
    Runnable watch();
}
