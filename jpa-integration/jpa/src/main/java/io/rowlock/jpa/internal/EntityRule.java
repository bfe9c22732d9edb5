package io.rowlock.jpa.internal;

import io.rowlock.job.JobKind;
import io.rowlock.jpa.Change;
import java.util.Collections;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One {@code @OutboxJob} of one entity.
 *
 * @param on the changes that make the job
 * @param changed the attributes of which one must have changed in an update; empty for any
 * @param kind the job's kind
 * @param source makes the payload
 */
record EntityRule(Set<Change> on, Set<String> changed, JobKind<?> kind, PayloadSource source) {
    EntityRule {
        on = Set.copyOf(on);
        changed = Set.copyOf(changed);
    }

    /** The change to report to the payload, or null if the rule is not about what happened. */
    @Nullable
    Change matching(ChangedEntity entity) {
        for (Change change : entity.changes()) {
            if (on.contains(change) && (change != Change.UPDATE || concerns(entity.dirty()))) {
                return change;
            }
        }
        return null;
    }

    private boolean concerns(@Nullable Set<String> dirty) {
        return changed.isEmpty() || dirty == null || !Collections.disjoint(changed, dirty);
    }
}
