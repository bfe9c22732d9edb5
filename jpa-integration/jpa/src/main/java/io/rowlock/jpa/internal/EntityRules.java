package io.rowlock.jpa.internal;

import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.jpa.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The rules of one entity. Immutable. */
public final class EntityRules {
    private final String entityName;
    private final List<EntityRule> rules;

    EntityRules(String entityName, List<EntityRule> rules) {
        this.entityName = entityName;
        this.rules = List.copyOf(rules);
    }

    /** The entity's name in JPQL. */
    public String entityName() {
        return entityName;
    }

    Stream<JobKind<?>> kinds() {
        return rules.stream().map(EntityRule::kind);
    }

    boolean about(Change change) {
        return rules.stream().anyMatch(rule -> rule.on().contains(change));
    }

    /** Whether an update's jobs depend on which attributes changed. */
    public boolean limitUpdates() {
        return rules.stream().anyMatch(rule -> !rule.changed().isEmpty());
    }

    /** Calls the payload methods that are about the change, and makes their jobs. */
    List<JobRequest<?>> requests(ChangedEntity changed) {
        List<JobRequest<?>> requests = new ArrayList<>(rules.size());
        for (EntityRule rule : rules) {
            Change change = rule.matching(changed);
            if (change != null) {
                for (Object payload : rule.source().payloads(changed, change)) {
                    requests.add(request(rule.kind(), payload, changed));
                }
            }
        }
        return requests;
    }

    private <T> JobRequest<T> request(JobKind<T> kind, Object payload, ChangedEntity changed) {
        String subject = Subject.of(entityName, changed.facts().id());
        return JobRequest.of(kind, kind.payloadType().cast(payload), options -> options.subject(subject));
    }
}
