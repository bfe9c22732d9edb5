package io.rowlock.jpa.internal;

import io.rowlock.job.JobKind;
import io.rowlock.job.JobRequest;
import io.rowlock.jpa.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One {@code @OutboxJob} of one entity.
 *
 * @param on the changes that make the job
 * @param concern which updates are meant
 * @param kind the job's kind
 * @param source makes the payload
 * @param place where the job goes
 */
record EntityRule(Set<Change> on, Concern concern, JobKind<?> kind, PayloadSource source, JobPlace place) {
    EntityRule {
        on = Set.copyOf(on);
    }

    /** The jobs of a change that matched, their payloads made. */
    List<JobRequest<?>> requests(ChangedEntity changed, Change change) {
        List<JobRequest<?>> requests = new ArrayList<>();
        for (Object payload : source.payloads(changed, change)) {
            requests.add(request(kind, payload, changed));
        }
        return requests;
    }

    /** The change to report to the payload, or null if the rule is not about what happened. */
    @Nullable
    Change matching(ChangedEntity entity) {
        for (Change change : Change.values()) {
            if (entity.changes().contains(change)
                    && on.contains(change)
                    && (change != Change.UPDATE || concern.isAbout(entity))) {
                return change;
            }
        }
        return null;
    }

    private <T> JobRequest<T> request(JobKind<T> of, Object payload, ChangedEntity changed) {
        return JobRequest.of(of, of.payloadType().cast(payload), options -> place.fillIn(options, changed));
    }
}
