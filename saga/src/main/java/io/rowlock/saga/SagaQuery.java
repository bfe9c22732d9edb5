package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which sagas are looked for: all that every filter lets through, the newest first, page by page. Immutable: each method
 * gives a new one. Setting a filter again replaces it.
 */
public final class SagaQuery {
    private static final int MOST = 1_000;
    private static final SagaQuery ALL =
            new SagaQuery(new Texts(null, null, null, null), Set.of(), new Times(null, null), null, 100);

    private final Texts texts;
    private final Set<SagaStatus> statuses;
    private final Times times;
    private final @Nullable SagaCursor after;
    private final int pageSize;

    private record Texts(
            @Nullable String name,
            @Nullable String businessKey,
            @Nullable String subject,
            @Nullable String step) {}

    private record Times(@Nullable Instant from, @Nullable Instant to) {}

    private SagaQuery(Texts texts, Set<SagaStatus> statuses, Times times, @Nullable SagaCursor after, int pageSize) {
        this.texts = texts;
        this.statuses = statuses;
        this.times = times;
        this.after = after;
        this.pageSize = pageSize;
    }

    /**
     * All sagas, 100 a page.
     *
     * @return the query without filters
     */
    public static SagaQuery all() {
        return ALL;
    }

    /**
     * Those of one definition, in all its versions.
     *
     * @param name its name
     * @return the narrower query
     * @throws InvalidUseException if the name is not allowed
     */
    public SagaQuery name(String name) {
        Names.refuse("The name of a saga", name);
        return with(new Texts(name, texts.businessKey, texts.subject, texts.step));
    }

    /**
     * Those that were started under a business key.
     *
     * @param key the key
     * @return the narrower query
     * @throws InvalidUseException if the key is not allowed
     */
    public SagaQuery businessKey(String key) {
        Names.refuse("A business key", key);
        return with(new Texts(texts.name, key, texts.subject, texts.step));
    }

    /**
     * Those about a subject.
     *
     * @param subject the subject
     * @return the narrower query
     * @throws InvalidUseException if the subject is not allowed
     */
    public SagaQuery subject(String subject) {
        Names.refuse("The subject of a saga", subject);
        return with(new Texts(texts.name, texts.businessKey, subject, texts.step));
    }

    /**
     * Those that stand at a step.
     *
     * @param step the step that moved last
     * @return the narrower query
     * @throws InvalidUseException if the name is not allowed
     */
    public SagaQuery step(String step) {
        Names.refuse("The name of a step", step);
        return with(new Texts(texts.name, texts.businessKey, texts.subject, step));
    }

    /**
     * Those that stand in one of some ways.
     *
     * @param first one
     * @param more others
     * @return the narrower query
     * @throws InvalidUseException if one is null
     */
    public SagaQuery status(SagaStatus first, SagaStatus... more) {
        if (first == null || more == null) {
            throw new InvalidUseException("The status of a saga must not be null");
        }
        Set<SagaStatus> all = EnumSet.of(first);
        for (SagaStatus each : more) {
            if (each == null) {
                throw new InvalidUseException("The status of a saga must not be null");
            }
            all.add(each);
        }
        return new SagaQuery(texts, Set.copyOf(all), times, after, pageSize);
    }

    /**
     * Those that wait for a person: stuck, or a compensation failed.
     *
     * @return the narrower query
     */
    public SagaQuery needsPerson() {
        return status(SagaStatus.STUCK, SagaStatus.COMPENSATION_FAILED);
    }

    /**
     * Those that were started at a time or later.
     *
     * @param from the earliest start
     * @return the narrower query
     * @throws InvalidUseException if null
     */
    public SagaQuery createdFrom(Instant from) {
        return new SagaQuery(texts, statuses, new Times(required(from), times.to), after, pageSize);
    }

    /**
     * Those that were started before a time.
     *
     * @param to the end, exclusive
     * @return the narrower query
     * @throws InvalidUseException if null
     */
    public SagaQuery createdBefore(Instant to) {
        return new SagaQuery(texts, statuses, new Times(times.from, required(to)), after, pageSize);
    }

    /**
     * The page behind another.
     *
     * @param cursor where that one ended: {@link SagaPage#next}
     * @return the query of that page
     * @throws InvalidUseException if null
     */
    public SagaQuery after(SagaCursor cursor) {
        if (cursor == null) {
            throw new InvalidUseException("The cursor must not be null; without one the first page is read");
        }
        return new SagaQuery(texts, statuses, times, cursor, pageSize);
    }

    /**
     * How many a page has at most.
     *
     * @param most 1 to 1,000; 100 by default
     * @return the query
     * @throws InvalidUseException if out of range
     */
    public SagaQuery pageSize(int most) {
        if (most < 1 || most > MOST) {
            throw new InvalidUseException("pageSize must be between 1 and " + MOST + ", got " + most);
        }
        return new SagaQuery(texts, statuses, times, after, most);
    }

    private SagaQuery with(Texts next) {
        return new SagaQuery(next, statuses, times, after, pageSize);
    }

    private static Instant required(@Nullable Instant at) {
        if (at == null) {
            throw new InvalidUseException("The time of a query must not be null; leave it out for no limit");
        }
        return at;
    }

    /**
     * The name asked for.
     *
     * @return empty: any
     */
    public Optional<String> name() {
        return Optional.ofNullable(texts.name);
    }

    /**
     * The business key asked for.
     *
     * @return empty: any, and none
     */
    public Optional<String> businessKey() {
        return Optional.ofNullable(texts.businessKey);
    }

    /**
     * The subject asked for.
     *
     * @return empty: any, and none
     */
    public Optional<String> subject() {
        return Optional.ofNullable(texts.subject);
    }

    /**
     * The step asked for.
     *
     * @return empty: any, and none
     */
    public Optional<String> step() {
        return Optional.ofNullable(texts.step);
    }

    /**
     * The statuses asked for.
     *
     * @return unmodifiable; empty: any
     */
    public Set<SagaStatus> statuses() {
        return statuses;
    }

    /**
     * The earliest start asked for.
     *
     * @return empty: any
     */
    public Optional<Instant> createdFrom() {
        return Optional.ofNullable(times.from);
    }

    /**
     * The end of the starts asked for, exclusive.
     *
     * @return empty: none
     */
    public Optional<Instant> createdBefore() {
        return Optional.ofNullable(times.to);
    }

    /**
     * Where the page begins.
     *
     * @return empty: with the newest
     */
    public Optional<SagaCursor> after() {
        return Optional.ofNullable(after);
    }

    /**
     * How many a page has at most.
     *
     * @return 1 to 1,000
     */
    public int pageSize() {
        return pageSize;
    }
}
