package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.jpa.Change;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Which change of which entity of one persistence unit makes which job. Immutable, safe for use by many threads. */
public final class EntityJobs {
    private final Map<String, EntityRules> rules;

    private EntityJobs(Map<String, EntityRules> rules) {
        this.rules = Map.copyOf(rules);
    }

    /**
     * Reads the annotations of all entities of a unit.
     *
     * @param beans where payload factories come from; not asked before one is needed
     * @throws InvalidUseException if anything is wrong: its message lists every mistake
     */
    public static EntityJobs of(Collection<EntityType> types, BeanSource beans) {
        Set<Class<?>> entities = new LinkedHashSet<>();
        types.forEach(type -> entities.add(type.javaClass()));
        Problems problems = new Problems();
        UnitKinds kinds = new UnitKinds(problems);
        Map<String, EntityRules> rules = new HashMap<>();
        List<EntityType> sorted =
                types.stream().sorted(Comparator.comparing(EntityType::key)).toList();
        for (EntityType type : sorted) {
            List<EntityRule> found = new RuleReader(type, entities, kinds, problems, beans).read();
            if (!found.isEmpty()) {
                rules.put(
                        type.key(),
                        new EntityRules(type.name(), type.attributes().keySet(), found));
            }
        }
        problems.throwIfAny();
        return new EntityJobs(rules);
    }

    /** Whether no entity of the unit makes jobs. */
    public boolean isEmpty() {
        return rules.isEmpty();
    }

    /** Whether any entity makes jobs of such a change. */
    public boolean about(Change change) {
        return rules.values().stream().anyMatch(each -> each.about(change));
    }

    /** The names of the entities that make jobs, in order. */
    public SortedSet<String> entityNames() {
        return rules.values().stream().map(EntityRules::entityName).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The kinds of all jobs that entities of the unit make. */
    public Set<JobKind<?>> kinds() {
        return rules.values().stream().flatMap(EntityRules::kinds).collect(Collectors.toUnmodifiableSet());
    }

    /** The names of these kinds, without their aliases. */
    public Set<String> kindNames() {
        return kinds().stream().map(JobKind::name).collect(Collectors.toUnmodifiableSet());
    }

    /** The rules of an entity, or null if it makes no jobs. */
    public @Nullable EntityRules rules(String key) {
        return rules.get(key);
    }
}
