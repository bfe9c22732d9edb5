package io.rowlock.jpa.internal;

import io.rowlock.job.JobOptions;
import org.jspecify.annotations.Nullable;

/**
 * Where the jobs of a rule go.
 *
 * @param queue the queue, or null for the default one
 * @param subject the attribute that names what the job is about, or null for the entity itself
 * @param orderedBy the attribute that gives the ordering key, or null for none
 */
record JobPlace(
        @Nullable String queue,
        @Nullable String subject,
        @Nullable String orderedBy) {

    void fillIn(JobOptions options, ChangedEntity changed) {
        if (queue != null) {
            options.queue(queue);
        }
        RowName about = subject == null ? null : changed.facts().belongsTo(subject);
        options.subject((about == null ? changed.name() : about).text());
        RowName key = orderedBy == null ? null : changed.facts().belongsTo(orderedBy);
        if (key != null) {
            options.orderingKey(key.text());
        }
    }
}
