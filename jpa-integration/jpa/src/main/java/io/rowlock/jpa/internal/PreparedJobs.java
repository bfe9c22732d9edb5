package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Outbox;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The jobs of some changes, their payloads made, to be written together. */
public final class PreparedJobs {
    private record Jobs(ChangedEntity changed, List<JobRequest<?>> requests) {}

    private final List<Jobs> jobs = new ArrayList<>();

    private PreparedJobs() {}

    /**
     * Calls the payload methods that the changes are about. These may query, so no other work may be under way.
     *
     * @param wanted whether jobs of a kind are to be made
     */
    public static PreparedJobs of(List<ChangedEntity> changes, Predicate<String> wanted) {
        PreparedJobs prepared = new PreparedJobs();
        for (ChangedEntity written : changes) {
            ChangedEntity changed = written.settled();
            List<JobRequest<?>> requests = changed.rules().requests(changed, wanted);
            if (!requests.isEmpty()) {
                prepared.jobs.add(new Jobs(changed, requests));
            }
        }
        return prepared;
    }

    /** Whether the changes made no job. */
    public boolean isEmpty() {
        return jobs.isEmpty();
    }

    /**
     * Writes them.
     *
     * @throws InvalidUseException if one was refused, naming its entity
     */
    public List<Enqueued> write(Outbox outbox, Connection connection) {
        List<JobRequest<?>> requests = new ArrayList<>();
        jobs.forEach(each -> requests.addAll(each.requests()));
        try {
            return outbox.enqueueAll(connection, requests);
        } catch (InvalidUseException e) {
            throw named(e, outbox, connection);
        }
    }

    /** Finds whose job was refused by trying each entity's alone: the transaction must roll back in any case. */
    private InvalidUseException named(InvalidUseException refusal, Outbox outbox, Connection connection) {
        for (Jobs each : jobs) {
            try {
                outbox.enqueueAll(connection, each.requests());
            } catch (InvalidUseException e) {
                return new InvalidUseException(
                        "The job of " + each.changed().described() + " was refused; the transaction must roll back. "
                                + e.getMessage(),
                        e);
            }
        }
        return refusal;
    }
}
