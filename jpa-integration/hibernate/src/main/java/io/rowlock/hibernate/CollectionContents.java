package io.rowlock.hibernate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.hibernate.collection.spi.PersistentCollection;
import org.jspecify.annotations.Nullable;

/**
 * What a flush does to one collection of an entity: what it held before, and the one that the entity has now.
 *
 * @param old a copy, or null if it was never loaded
 * @param now the collection, or null if its rows are deleted
 */
record CollectionContents(@Nullable Object old, @Nullable Object now) {
    /** What a collection held when it was read from the database, or null if that never happened. */
    static @Nullable Object stored(PersistentCollection<?> collection) {
        if (!collection.wasInitialized()) {
            return null;
        }
        Object snapshot = collection.getStoredSnapshot();
        if (snapshot instanceof Map<?, ?> map) {
            return collection instanceof Map ? new HashMap<>(map) : new HashSet<>(map.keySet());
        }
        return snapshot instanceof Collection<?> elements ? new ArrayList<>(elements) : snapshot;
    }

    /** Nothing, in the form of the collection. */
    static Object nothing(Object collection) {
        if (collection instanceof Map) {
            return Map.of();
        }
        return collection instanceof Set ? Set.of() : List.of();
    }

    CollectionContents andThen(CollectionContents later) {
        return new CollectionContents(old, later.now);
    }

    /** Whether the same is stored afterwards as before. */
    boolean isUnchanged() {
        return old != null && Objects.equals(plain(old), now == null ? nothing(old) : plain(now));
    }

    private static Object plain(Object collection) {
        if (collection instanceof Map<?, ?> map) {
            return new HashMap<>(map);
        }
        if (collection instanceof Set<?> set) {
            return new HashSet<>(set);
        }
        return collection instanceof Collection<?> list ? new ArrayList<>(list) : collection;
    }
}
