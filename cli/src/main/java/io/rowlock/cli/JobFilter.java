package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which jobs, said by options. */
final class JobFilter {
    @Option(names = "--subject", paramLabel = "SUBJECT", description = "What the jobs are about, as Order:42.")
    private @Nullable String subject;

    @Option(names = "--kind", paramLabel = "KIND", description = "Their kind.")
    private @Nullable String kind;

    @Option(names = "--queue", paramLabel = "QUEUE", description = "Their queue.")
    private @Nullable String queue;

    @Option(
            names = "--state",
            paramLabel = "STATE",
            split = ",",
            description = "Their states: ready, parked, completed, dead, cancelled; several with commas.")
    private List<JobState> states = List.of();

    @Option(
            names = "--finished-since",
            paramLabel = "TIME",
            description = "Finished then or later: an instant, or how long ago, as PT2H.")
    private @Nullable String finishedSince;

    @Option(
            names = "--finished-before",
            paramLabel = "TIME",
            description = "Finished before that: an instant, or how long ago, as PT2H.")
    private @Nullable String finishedBefore;

    @Option(
            names = "--created-since",
            paramLabel = "TIME",
            description = "Written then or later: an instant, or how long ago, as PT2H.")
    private @Nullable String createdSince;

    boolean isEmpty() {
        return subject == null
                && kind == null
                && queue == null
                && states.isEmpty()
                && finishedSince == null
                && finishedBefore == null
                && createdSince == null;
    }

    JobQuery query() {
        JobQuery query = JobQuery.all();
        query = subject == null ? query : query.subject(subject);
        query = kind == null ? query : query.kind(kind);
        query = queue == null ? query : query.queue(queue);
        query = finishedSince == null ? query : query.finishedFrom(time("--finished-since", finishedSince));
        query = finishedBefore == null ? query : query.finishedBefore(time("--finished-before", finishedBefore));
        query = createdSince == null ? query : query.createdFrom(time("--created-since", createdSince));
        if (!states.isEmpty()) {
            List<JobState> more = new ArrayList<>(states);
            query = query.state(more.remove(0), more.toArray(JobState[]::new));
        }
        return query;
    }

    static Instant time(String option, String text) {
        try {
            return text.startsWith("P") ? Instant.now().minus(Duration.parse(text)) : Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new InvalidUseException(
                    option + " must be an instant as 2026-11-29T03:00:00Z, or how long ago as PT2H or P1D, got " + text,
                    e);
        }
    }
}
