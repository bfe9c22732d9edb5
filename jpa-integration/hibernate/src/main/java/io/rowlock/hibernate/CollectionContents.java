package io.rowlock.hibernate;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hibernate.collection.spi.PersistentArrayHolder;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.collection.spi.PersistentIdentifierBag;
import org.jspecify.annotations.Nullable;

/**
 * What a flush does to one collection of an entity: what it held before, and what it holds now.
 *
 * @param rows how its rows are stored
 * @param old a copy, or null if it was never loaded
 * @param now the collection, or null if its rows are deleted
 */
record CollectionContents(
        CollectionRows rows, @Nullable Object old, @Nullable Object now) {
    /** The first rows, after none. */
    static CollectionContents created(CollectionRows rows, PersistentCollection<?> collection) {
        return new CollectionContents(rows, nothing(plain(collection)), plain(collection));
    }

    /** Other rows than were read. */
    static CollectionContents updated(CollectionRows rows, PersistentCollection<?> collection) {
        return new CollectionContents(rows, stored(collection), plain(collection));
    }

    /** No rows any more. */
    static CollectionContents removed(CollectionRows rows, PersistentCollection<?> collection) {
        return new CollectionContents(rows, stored(collection), null);
    }

    CollectionContents andThen(CollectionContents later) {
        return new CollectionContents(later.rows, old, later.now);
    }

    /** Whether the same is stored afterwards as before. */
    boolean isUnchanged() {
        return old != null && isLoaded(now) && rows.of(old).equals(rows.of(now == null ? nothing(old) : now));
    }

    private static boolean isLoaded(@Nullable Object collection) {
        return !(collection instanceof PersistentCollection<?> lazy) || lazy.wasInitialized();
    }

    /** What a collection held when it was read from the database, or null if that never happened. */
    private static @Nullable Object stored(PersistentCollection<?> collection) {
        if (!collection.wasInitialized()) {
            return null;
        }
        Object snapshot = collection.getStoredSnapshot();
        if (snapshot instanceof Map<?, ?> map) {
            if (collection instanceof PersistentIdentifierBag) {
                return new ArrayList<>(map.values()); // by the ids of the rows
            }
            return collection instanceof Map ? new HashMap<>(map) : new HashSet<>(map.keySet());
        }
        return snapshot instanceof Collection<?> elements ? new ArrayList<>(elements) : snapshot;
    }

    /** Nothing, in the form of the collection. */
    private static Object nothing(Object collection) {
        if (collection.getClass().isArray()) {
            return Array.newInstance(collection.getClass().getComponentType(), 0);
        }
        if (collection instanceof Map) {
            return Map.of();
        }
        return collection instanceof Set ? Set.of() : List.of();
    }

    private static Object plain(PersistentCollection<?> collection) {
        return collection instanceof PersistentArrayHolder<?> holder ? holder.getArray() : collection;
    }
}
