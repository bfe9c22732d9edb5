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
 * @param dirty the attributes, or paths, an update changed, or null if the provider cannot tell
 * @param beside those that the provider changes with each update, as the time of it
 * @param facts its id and version
 */
public record ChangedEntity(
        EntityRules rules,
        Object entity,
        Set<Change> changes,
        @Nullable Set<String> dirty,
        Set<String> beside,
        EntityFacts facts) {

    /** A change with nothing beside. */
    public ChangedEntity(
            EntityRules rules, Object entity, Set<Change> changes, @Nullable Set<String> dirty, EntityFacts facts) {
        this(rules, entity, changes, dirty, Set.of(), facts);
    }

    boolean is(Change change) {
        return changes.size() == 1 && changes.contains(change);
    }

    /** This and a later change of the same flush as one, which then is such a change. */
    ChangedEntity andThen(ChangedEntity later, Set<Change> then) {
        Set<String> both = null;
        if (dirty != null && later.dirty != null) {
            both = new HashSet<>(dirty);
            both.addAll(later.dirty);
        }
        Set<String> bothBeside = new HashSet<>(beside);
        bothBeside.addAll(later.beside);
        return new ChangedEntity(rules, entity, then, both, bothBeside, later.facts.since(facts));
    }

    /** Without what was written, but is what it was before. */
    ChangedEntity settled() {
        if (dirty == null || dirty.stream().noneMatch(facts::isUnchanged)) {
            return this;
        }
        Set<String> left = new HashSet<>(dirty);
        left.removeIf(facts::isUnchanged);
        return new ChangedEntity(rules, entity, changes, left, beside, facts);
    }

    /** All attributes, or paths, that differ; null if the provider cannot tell. */
    @Nullable
    Set<String> differing() {
        if (dirty == null || beside.isEmpty()) {
            return dirty;
        }
        Set<String> all = new HashSet<>(dirty);
        all.addAll(beside);
        return all;
    }

    /** The row that changed. */
    RowName name() {
        return new RowName(rules.entityName(), facts.id());
    }

    /** Names the entity in messages. */
    String described() {
        return rules.entityName() + " " + facts.id();
    }
}
