package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Job;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which jobs, said by options. */
final class JobFilter {
    private static final int MOST = 1_000;

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
            description =
                    "Their states: ready (waiting or running), parked, completed, dead, cancelled; several with commas.")
    private List<String> states = List.of();

    @Option(
            names = "--finished-since",
            paramLabel = "TIME",
            description = "Finished then or later: a time with its offset, or how long ago, as PT2H.")
    private @Nullable String finishedSince;

    @Option(
            names = "--finished-before",
            paramLabel = "TIME",
            description = "Finished before that: a time with its offset, or how long ago, as PT2H.")
    private @Nullable String finishedBefore;

    @Option(
            names = "--created-since",
            paramLabel = "TIME",
            description = "Written then or later: a time with its offset, or how long ago, as PT2H.")
    private @Nullable String createdSince;

    @Option(
            names = "--created-before",
            paramLabel = "TIME",
            description = "Written before that: a time with its offset, or how long ago, as PT2H.")
    private @Nullable String createdBefore;

    /** Refuses to mean all jobs. */
    void required() {
        if (isEmpty()) {
            throw new InvalidUseException("Say which jobs: --subject, --kind, --queue, --state, ...");
        }
    }

    private boolean isEmpty() {
        return subject == null
                && kind == null
                && queue == null
                && states.isEmpty()
                && finishedSince == null
                && finishedBefore == null
                && createdSince == null
                && createdBefore == null;
    }

    /** For what is listed, of which {@link #passes} leaves out some. */
    JobQuery search(int page) {
        Set<JobState> asked = states();
        if (running()) {
            asked.add(JobState.READY);
            return query(asked).pageSize(MOST); // few of them pass
        }
        return query(asked).pageSize(page);
    }

    /** A running job is a ready one with an owner; no index leads to them. */
    boolean passes(Job job) {
        return !running() || states().contains(job.state()) || job.lease().owner() != null;
    }

    /** For what is changed: refuses states of which it changes none. */
    JobQuery change(JobChange change) {
        if (running()) {
            throw new InvalidUseException(
                    "--state running is for jobs find; a running job is a ready one, so say --state ready, which is"
                            + " those that wait too");
        }
        Set<JobState> asked = states();
        if (!asked.isEmpty() && Collections.disjoint(asked, change.states())) {
            throw new InvalidUseException("No job in state " + texts(asked)
                    + " would be changed by this; it does something to " + texts(change.states()) + " ones");
        }
        return query(asked);
    }

    private static String texts(Set<JobState> states) {
        return Arrays.stream(JobState.values())
                .filter(states::contains)
                .map(JobState::text)
                .collect(Collectors.joining(", "));
    }

    private boolean running() {
        return states.stream().anyMatch(JobFilter::meansRunning);
    }

    private static boolean meansRunning(String word) {
        return word.equalsIgnoreCase("running") || word.equalsIgnoreCase("leased");
    }

    private Set<JobState> states() {
        Set<JobState> known = EnumSet.noneOf(JobState.class);
        for (String word : states) {
            if (!meansRunning(word)) {
                known.add(Arrays.stream(JobState.values())
                        .filter(state -> state.text().equalsIgnoreCase(word))
                        .findFirst()
                        .orElseThrow(() -> new InvalidUseException(
                                "--state must be ready (waits, or is running), parked, completed, dead or cancelled;"
                                        + " jobs find takes running too, for those that a worker has now; got "
                                        + word)));
            }
        }
        return known;
    }

    private JobQuery query(Set<JobState> in) {
        JobQuery query = JobQuery.all();
        query = subject == null ? query : query.subject(subject);
        query = kind == null ? query : query.kind(kind);
        query = queue == null ? query : query.queue(queue);
        query = finishedSince == null ? query : query.finishedFrom(Moment.ago("--finished-since", finishedSince));
        query = finishedBefore == null ? query : query.finishedBefore(Moment.ago("--finished-before", finishedBefore));
        query = createdSince == null ? query : query.createdFrom(Moment.ago("--created-since", createdSince));
        query = createdBefore == null ? query : query.createdBefore(Moment.ago("--created-before", createdBefore));
        if (!in.isEmpty()) {
            List<JobState> more = new ArrayList<>(in);
            query = query.state(more.remove(0), more.toArray(JobState[]::new));
        }
        return query;
    }
}
