package io.rowlock.hibernate;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.hibernate.persister.collection.CollectionPersister;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

/** The rows of a collection, in a form that can be compared: what a row has no column for, does not count. */
final class CollectionRows {
    private final boolean ordered;
    private final @Nullable Type key;
    private final Type element;
    private final StoredValues stored;

    @SuppressWarnings("removal") // there in all versions served, and the only way to a Type
    CollectionRows(CollectionPersister persister) {
        this.ordered = persister.hasIndex();
        this.key = persister.getIndexType();
        this.element = persister.getElementType();
        this.stored = new StoredValues(persister.getOwnerEntityPersister().getFactory());
    }

    /**
     * Equal where the same rows are stored: of a map, values by keys; of a list with an order column, elements by places;
     * else how often there is which element, in whatever order. Null has no row.
     *
     * @param contents a loaded collection, map or array
     */
    Map<@Nullable Object, @Nullable Object> of(Object contents) {
        if (contents instanceof Map<?, ?> map) {
            return values(map);
        }
        Collection<?> elements = contents instanceof Collection<?> all ? all : array(contents);
        return ordered ? places(elements) : counts(elements);
    }

    private Map<@Nullable Object, @Nullable Object> values(Map<?, ?> map) {
        Map<@Nullable Object, @Nullable Object> rows = new HashMap<>();
        Type keys = Objects.requireNonNull(key, "a map has keys");
        map.forEach((name, value) -> {
            if (value != null) {
                rows.put(stored.of(keys, name), stored.of(element, value));
            }
        });
        return rows;
    }

    private Map<@Nullable Object, @Nullable Object> places(Collection<?> elements) {
        Map<@Nullable Object, @Nullable Object> rows = new HashMap<>();
        int place = 0;
        for (Object value : elements) {
            if (value != null) {
                rows.put(place, stored.of(element, value));
            }
            place++;
        }
        return rows;
    }

    private Map<@Nullable Object, @Nullable Object> counts(Collection<?> elements) {
        Map<@Nullable Object, @Nullable Object> rows = new HashMap<>();
        for (Object value : elements) {
            if (value != null) {
                Object row = stored.of(element, value);
                rows.merge(row, 1, (count, one) -> (Integer) count + 1);
            }
        }
        return rows;
    }

    private static List<@Nullable Object> array(Object array) {
        List<@Nullable Object> elements = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
            elements.add(Array.get(array, i));
        }
        return elements;
    }
}
