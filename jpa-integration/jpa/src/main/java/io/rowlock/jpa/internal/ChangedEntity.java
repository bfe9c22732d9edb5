package io.rowlock.jpa.internal;

import io.rowlock.jpa.Change;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One entity that changed.
 *
 * @param rules of its type
 * @param entity the instance
 * @param changes what happened: one change, or two where the provider cannot tell an insert from an update
 * @param dirty the attributes an update changed, or null if the provider cannot tell
 * @param facts its id and version
 */
public record ChangedEntity(
        EntityRules rules,
        Object entity,
        Set<Change> changes,
        @Nullable Set<String> dirty,
        EntityFacts facts) {

    boolean is(Change change) {
        return changes.size() == 1 && changes.contains(change);
    }

    /** Two updates of the same entity as one. */
    ChangedEntity andThen(ChangedEntity later) {
        if (dirty == null || later.dirty == null) {
            return new ChangedEntity(rules, entity, changes, null, facts);
        }
        Set<String> both = new HashSet<>(dirty);
        both.addAll(later.dirty);
        return new ChangedEntity(rules, entity, changes, both, facts);
    }

    /** Names the entity in messages. */
    String described() {
        return rules.entityName() + " " + facts.id();
    }
}
