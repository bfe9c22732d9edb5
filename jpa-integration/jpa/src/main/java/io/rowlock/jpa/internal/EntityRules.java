package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.jpa.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rules of one entity. Immutable. */
public final class EntityRules {
    private final String entityName;
    private final List<EntityRule> rules;
    private final Set<String> attributes;

    EntityRules(String entityName, Set<String> attributes, List<EntityRule> rules) {
        this.entityName = entityName;
        this.attributes = Set.copyOf(attributes);
        this.rules = List.copyOf(rules);
    }

    /** The entity's name in JPQL. */
    public String entityName() {
        return entityName;
    }

    Stream<JobKind<?>> kinds() {
        return rules.stream().map(EntityRule::kind);
    }

    /** The names of the entity's attributes, and the paths into embedded objects. */
    Set<String> attributes() {
        return attributes;
    }

    /** Whether any of them is about such a change. */
    public boolean about(Change change) {
        return rules.stream().anyMatch(rule -> rule.on().contains(change));
    }

    /** The kinds of jobs that such a change may make, in order. */
    public SortedSet<String> kinds(Change change) {
        return kinds(change, null);
    }

    /**
     * The kinds of jobs that such a change may make, in order.
     *
     * @param dirty the attributes, or paths, that an update changes, or null if nobody knows
     */
    public SortedSet<String> kinds(Change change, @Nullable Set<String> dirty) {
        return rules.stream()
                .filter(rule -> rule.on().contains(change))
                .filter(rule -> change != Change.UPDATE || rule.concern().matches(dirty))
                .map(rule -> rule.kind().name())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Calls the payload methods that are about the change, and makes their jobs.
     *
     * @param wanted asked for the kind of each rule that is about the change
     * @throws InvalidUseException if one of them modified the entity
     */
    List<JobRequest<?>> requests(ChangedEntity changed, Predicate<String> wanted) {
        List<JobRequest<?>> requests = new ArrayList<>(rules.size());
        Runnable check = null;
        for (EntityRule rule : rules) {
            Change change = rule.matching(changed);
            if (change != null && wanted.test(rule.kind().name())) {
                if (check == null && rule.source() != PayloadSource.DEFAULT) {
                    check = changed.facts().watch();
                }
                requests.addAll(rule.requests(changed, change));
            }
        }
        if (check != null) {
            check.run();
        }
        return requests;
    }
}
