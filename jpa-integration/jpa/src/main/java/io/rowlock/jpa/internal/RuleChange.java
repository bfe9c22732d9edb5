package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A change as one rule sees it. */
record RuleChange(ChangedEntity changed, Change operation) implements EntityChange<Object> {
    @Override
    public Object entity() {
        return changed.entity();
    }

    @Override
    public Set<String> dirtyAttributes() {
        Set<String> dirty = operation == Change.UPDATE ? changed.differing() : null;
        return dirty == null ? Set.of() : Set.copyOf(dirty);
    }

    @Override
    public boolean changed(String attribute) {
        check(attribute);
        return operation != Change.UPDATE || new Concern(Set.of(attribute), Set.of()).matches(changed.differing());
    }

    @Override
    public boolean knowsOldValue(String attribute) {
        check(attribute);
        return operation == Change.PERSIST || changed.facts().knowsOld(attribute);
    }

    @Override
    public @Nullable Object oldValue(String attribute) {
        if (!knowsOldValue(attribute)) {
            throw new InvalidUseException("The value of " + attribute + " of " + changed.described()
                    + " before the change is not known, as it was not read from the database; ask knowsOldValue first");
        }
        return operation == Change.PERSIST ? null : changed.facts().old(attribute);
    }

    @Override
    public boolean knowsNewValue(String attribute) {
        check(attribute);
        return operation == Change.REMOVE || changed.facts().knowsCurrent(attribute);
    }

    @Override
    public @Nullable Object newValue(String attribute) {
        if (!knowsNewValue(attribute)) {
            throw new InvalidUseException("The value of " + attribute + " of " + changed.described()
                    + " is not known, as it is lazy and was neither loaded nor changed; ask knowsNewValue first, or read"
                    + " it from the entity, which loads it");
        }
        return operation == Change.REMOVE ? null : changed.facts().current(attribute);
    }

    private void check(String attribute) {
        Set<String> known = changed.rules().attributes();
        if (attribute == null || !known.contains(attribute)) {
            throw new InvalidUseException("Entity " + changed.rules().entityName() + " has no attribute " + attribute
                    + "; it has " + new TreeSet<>(known));
        }
    }
}
