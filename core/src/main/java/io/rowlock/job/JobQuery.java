package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs are looked for: all that every filter lets through, page by page; those written last first, or, with a time of the
 * end, those that ended last. Immutable: each method gives a new one. Setting a filter again replaces it.
 */
public final class JobQuery {
    private static final int MOST = 1_000;
    private static final Times ANY_TIME = new Times(null, null);
    private static final JobQuery ALL =
            new JobQuery(new Words(null, null, null), Set.of(), ANY_TIME, ANY_TIME, new Page(null, 100));

    private final Words words;
    private final Set<JobState> states;
    private final Times created;
    private final Times finished;
    private final Page page;

    private record Words(
            @Nullable String kind,
            @Nullable String queue,
            @Nullable String subject) {}

    private record Times(@Nullable Instant from, @Nullable Instant before) {
        private boolean any() {
            return from == null && before == null;
        }
    }

    private record Page(@Nullable JobCursor after, int size) {}

    private JobQuery(Words words, Set<JobState> states, Times created, Times finished, Page page) {
        this.words = words;
        this.states = states;
        this.created = created;
        this.finished = finished;
        this.page = page;
    }

    /**
     * All jobs, 100 a page.
     *
     * @return the query without filters
     */
    public static JobQuery all() {
        return ALL;
    }

    /**
     * Those of a kind.
     *
     * @param kind the kind's name. Rows that were written under its aliases count too, as far as this process knows them: its
     *     workers handle the kind, or its entities make it. An alias alone finds the rows that have it
     * @return the narrower query
     * @throws InvalidUseException if no kind can have the name
     */
    public JobQuery kind(String kind) {
        return with(new Words(Texts.indexed("kind", kind), words.queue, words.subject));
    }

    /**
     * Those of a queue.
     *
     * @param queue the queue
     * @return the narrower query
     * @throws InvalidUseException if no queue can have the name
     */
    public JobQuery queue(String queue) {
        return with(new Words(words.kind, Texts.indexed("queue", queue), words.subject));
    }

    /**
     * Those about a subject.
     *
     * @param subject the subject, such as {@code Order:42}
     * @return the narrower query
     * @throws InvalidUseException if no job can have it
     */
    public JobQuery subject(String subject) {
        return with(new Words(words.kind, words.queue, Texts.indexed("subject", subject)));
    }

    /**
     * Those in one of some states.
     *
     * @param first one
     * @param more others
     * @return the narrower query
     * @throws InvalidUseException if one is null
     */
    public JobQuery state(JobState first, JobState... more) {
        if (first == null || more == null) {
            throw new InvalidUseException("The state of a job must not be null");
        }
        Set<JobState> all = EnumSet.of(first);
        for (JobState each : more) {
            if (each == null) {
                throw new InvalidUseException("The state of a job must not be null");
            }
            all.add(each);
        }
        return new JobQuery(words, Set.copyOf(all), created, finished, page);
    }

    /**
     * Those that were written, or got their present payload, at a time or later.
     *
     * @param from the earliest time
     * @return the narrower query
     * @throws InvalidUseException if null
     */
    public JobQuery createdFrom(Instant from) {
        return new JobQuery(words, states, new Times(required(from), created.before), finished, page);
    }

    /**
     * Those that were written, or got their present payload, before a time.
     *
     * @param before the end, exclusive
     * @return the narrower query
     * @throws InvalidUseException if null
     */
    public JobQuery createdBefore(Instant before) {
        return new JobQuery(words, states, new Times(created.from, required(before)), finished, page);
    }

    /**
     * Those that ended at a time or later; in the order of their ends.
     *
     * @param from the earliest end
     * @return the narrower query
     * @throws InvalidUseException if null
     */
    public JobQuery finishedFrom(Instant from) {
        return new JobQuery(words, states, created, new Times(required(from), finished.before), page);
    }

    /**
     * Those that ended before a time; in the order of their ends.
     *
     * @param before the end, exclusive
     * @return the narrower query
     * @throws InvalidUseException if null
     */
    public JobQuery finishedBefore(Instant before) {
        return new JobQuery(words, states, created, new Times(finished.from, required(before)), page);
    }

    /**
     * The page behind another.
     *
     * @param cursor where that one ended: {@link JobPage#next}
     * @return the query of that page
     * @throws InvalidUseException if null
     */
    public JobQuery after(JobCursor cursor) {
        if (cursor == null) {
            throw new InvalidUseException("The cursor must not be null; without one the first page is read");
        }
        return new JobQuery(words, states, created, finished, new Page(cursor, page.size));
    }

    /**
     * How many a page has at most.
     *
     * @param most 1 to 1,000; 100 by default
     * @return the query
     * @throws InvalidUseException if out of range
     */
    public JobQuery pageSize(int most) {
        if (most < 1 || most > MOST) {
            throw new InvalidUseException("pageSize must be between 1 and " + MOST + ", got " + most);
        }
        return new JobQuery(words, states, created, finished, new Page(page.after, most));
    }

    private JobQuery with(Words next) {
        return new JobQuery(next, states, created, finished, page);
    }

    private static Instant required(@Nullable Instant at) {
        if (at == null) {
            throw new InvalidUseException("The time of a query must not be null; leave it out for no limit");
        }
        return at;
    }

    /**
     * The kind asked for.
     *
     * @return empty: any
     */
    public Optional<String> kind() {
        return Optional.ofNullable(words.kind);
    }

    /**
     * The queue asked for.
     *
     * @return empty: any
     */
    public Optional<String> queue() {
        return Optional.ofNullable(words.queue);
    }

    /**
     * The subject asked for.
     *
     * @return empty: any, and none
     */
    public Optional<String> subject() {
        return Optional.ofNullable(words.subject);
    }

    /**
     * The states asked for.
     *
     * @return unmodifiable; empty: any
     */
    public Set<JobState> states() {
        return states;
    }

    /**
     * The earliest writing asked for.
     *
     * @return empty: any
     */
    public Optional<Instant> createdFrom() {
        return Optional.ofNullable(created.from);
    }

    /**
     * The end of the writings asked for, exclusive.
     *
     * @return empty: none
     */
    public Optional<Instant> createdBefore() {
        return Optional.ofNullable(created.before);
    }

    /**
     * The earliest end asked for.
     *
     * @return empty: any
     */
    public Optional<Instant> finishedFrom() {
        return Optional.ofNullable(finished.from);
    }

    /**
     * The end of the ends asked for, exclusive.
     *
     * @return empty: none
     */
    public Optional<Instant> finishedBefore() {
        return Optional.ofNullable(finished.before);
    }

    /**
     * Whether it asks for the time of the end, and so gives jobs in that order.
     *
     * @return true if {@link #finishedFrom(Instant)} or {@link #finishedBefore(Instant)} was set
     */
    public boolean byEnd() {
        return !finished.any();
    }

    /**
     * Where the page begins.
     *
     * @return empty: with the newest
     */
    public Optional<JobCursor> after() {
        return Optional.ofNullable(page.after);
    }

    /**
     * How many a page has at most.
     *
     * @return 1 to 1,000
     */
    public int pageSize() {
        return page.size;
    }
}
