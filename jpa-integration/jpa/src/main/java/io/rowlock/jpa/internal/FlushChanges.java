package io.rowlock.jpa.internal;

import io.rowlock.jpa.Change;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The changes of one flush, one for each entity, in the order in which entities changed first: persisted and updated is
 * persisted, updated and removed is removed, persisted and removed is nothing. For one thread, as a session is.
 */
public final class FlushChanges {
    private final IdentityHashMap<Object, Integer> positions = new IdentityHashMap<>();
    private final Map<Integer, ChangedEntity> changes = new LinkedHashMap<>();
    private int next;

    /** Adds what just happened to an entity. */
    public void add(ChangedEntity change) {
        Integer position = positions.get(change.entity());
        if (position == null) {
            append(change);
            return;
        }
        ChangedEntity earlier = changes.get(position);
        if (earlier == null || earlier.is(Change.REMOVE)) {
            append(change);
        } else if (change.is(Change.REMOVE)) {
            if (earlier.is(Change.PERSIST)) {
                changes.remove(position);
            } else {
                changes.put(position, earlier.andThen(change, change.changes()));
            }
        } else {
            changes.put(position, earlier.andThen(change, earlier.changes()));
        }
    }

    private void append(ChangedEntity change) {
        positions.put(change.entity(), next);
        changes.put(next++, change);
    }

    /** Whether there is nothing to write. */
    public boolean isEmpty() {
        return changes.isEmpty();
    }

    /** Gives the changes away and forgets them. */
    public List<ChangedEntity> take() {
        Collection<ChangedEntity> taken = new ArrayList<>(changes.values());
        clear();
        return List.copyOf(taken);
    }

    /** Forgets the changes. */
    public void clear() {
        positions.clear();
        changes.clear();
        next = 0;
    }
}
