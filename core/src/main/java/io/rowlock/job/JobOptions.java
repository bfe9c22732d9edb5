package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How one job is to be written: time, queue, priority, subject, headers, keys. Filled in by the lambda of an enqueue
 * and read by Rowlock; for one thread. Setting one option twice is an error, so that two places in the code never
 * quietly overrule each other.
 */
public final class JobOptions {
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private final Map<String, Object> set = new LinkedHashMap<>();
    private final Map<String, String> headers = new LinkedHashMap<>();

    /** Makes empty options: due at once, queue {@code default}, priority normal. */
    public JobOptions() {}

    /**
     * Makes the job due this long after the row is written, by the database's clock.
     *
     * @param delay zero to 100 years; default zero
     * @return this
     * @throws InvalidUseException if negative, null or too long, or if a time was given already
     */
    public JobOptions after(Duration delay) {
        refuseWith("after", "at");
        return put("after", Delays.checked("after", delay));
    }

    /**
     * Makes the job due at this instant. A time in the past means at once.
     *
     * @param time at most the end of the year 9999
     * @return this
     * @throws InvalidUseException if null or too late, or if a time was given already
     */
    public JobOptions at(Instant time) {
        if (time == null || time.isAfter(LATEST)) {
            throw new InvalidUseException("at must be an instant up to " + LATEST + ", got " + time);
        }
        refuseWith("at", "after");
        return put("at", time);
    }

    /**
     * Puts the job into a queue.
     *
     * @param queue 1 to 200 characters; {@code default} if never set
     * @return this
     * @throws InvalidUseException if the name is not allowed
     */
    public JobOptions queue(String queue) {
        return put("queue", Texts.indexed("queue", queue));
    }

    /**
     * Sets how urgent the job is.
     *
     * @param priority {@link Priority#NORMAL} if never set
     * @return this
     * @throws InvalidUseException if null
     */
    public JobOptions priority(Priority priority) {
        if (priority == null) {
            throw new InvalidUseException("priority must not be null");
        }
        return put("priority", priority);
    }

    /**
     * Says what the job is about, so that people can ask what happened to it.
     *
     * @param subject 1 to 200 characters, such as {@code Order:42}; none by default
     * @return this
     * @throws InvalidUseException if the text is not allowed
     */
    public JobOptions subject(String subject) {
        return put("subject", Texts.indexed("subject", subject));
    }

    /**
     * Adds a header: a small text that travels with the job, such as a tenant or a trace.
     *
     * @param name 1 to 200 characters
     * @param value any text; all headers of a job together may have 8 KiB as JSON
     * @return this
     * @throws InvalidUseException if the name is not allowed, is set already, or the value is null
     */
    public JobOptions header(String name, String value) {
        Texts.indexed("header name", name);
        if (value == null) {
            throw new InvalidUseException("The value of header " + name + " must not be null");
        }
        if (headers.putIfAbsent(name, value) != null) {
            throw new InvalidUseException("Header " + name + " is set twice");
        }
        return this;
    }

    /**
     * Limits the attempts of this job, whatever the policy of its handler says.
     *
     * @param attempts 1 to 1,000,000; by default the handler's policy decides
     * @return this
     * @throws InvalidUseException if out of range
     */
    public JobOptions maxAttempts(int attempts) {
        if (attempts < 1 || attempts > 1_000_000) {
            throw new InvalidUseException("maxAttempts must be between 1 and 1000000, got " + attempts);
        }
        return put("maxAttempts", attempts);
    }

    /**
     * Runs the job one at a time with, and in the order of, the other jobs of its queue with this key.
     *
     * @param key 1 to 200 characters; none by default
     * @return this
     * @throws InvalidUseException if the key is not allowed
     */
    public JobOptions orderingKey(String key) {
        return put("orderingKey", Texts.indexed("orderingKey", key));
    }

    /**
     * Counts the job against the limit of this key, over all workers.
     *
     * @param key 1 to 200 characters; none by default
     * @return this
     * @throws InvalidUseException if the key is not allowed
     */
    public JobOptions limitKey(String key) {
        return put("limitKey", Texts.indexed("limitKey", key));
    }

    /**
     * Allows at most one waiting job of its kind with this key; a duplicate keeps the existing one ({@link
     * DedupMode#KEEP}).
     *
     * @param key 1 to 200 characters; none by default
     * @return this
     * @throws InvalidUseException if the key is not allowed
     */
    public JobOptions dedupKey(String key) {
        return dedupKey(key, DedupMode.KEEP);
    }

    /**
     * Allows at most one waiting job of its kind with this key, or at most one ever. Needs a READ COMMITTED
     * transaction: in any other the enqueue is refused, as it could not see what others have written meanwhile.
     *
     * <p>While another open transaction has written a job with the same kind and key, the enqueue waits for its end, at
     * most as long as the connection's {@code lock_timeout} allows. Two transactions that write the same two keys in
     * different order, in two calls each, or that first keep and in a later call change the same waiting job, can
     * deadlock; the server then ends one of them. Keys of one call are taken in one order, so that two calls cannot.
     *
     * @param key 1 to 200 characters; none by default
     * @param mode what becomes of a duplicate
     * @return this
     * @throws InvalidUseException if the key is not allowed, or the mode is null
     */
    public JobOptions dedupKey(String key, DedupMode mode) {
        if (mode == null) {
            throw new InvalidUseException("The mode of a dedup key must not be null");
        }
        put("dedupKey", Texts.indexed("dedupKey", key));
        return put("dedupMode", mode);
    }

    /**
     * The delay, if one was set.
     *
     * @return the delay
     */
    public Optional<Duration> after() {
        return get("after", Duration.class);
    }

    /**
     * The instant, if one was set.
     *
     * @return the instant
     */
    public Optional<Instant> at() {
        return get("at", Instant.class);
    }

    /**
     * The queue, if one was set.
     *
     * @return the queue
     */
    public Optional<String> queue() {
        return get("queue", String.class);
    }

    /**
     * The priority, if one was set.
     *
     * @return the priority
     */
    public Optional<Priority> priority() {
        return get("priority", Priority.class);
    }

    /**
     * The subject, if one was set.
     *
     * @return the subject
     */
    public Optional<String> subject() {
        return get("subject", String.class);
    }

    /**
     * The headers set so far.
     *
     * @return an unmodifiable view
     */
    public Map<String, String> headers() {
        return Collections.unmodifiableMap(headers);
    }

    /**
     * The limit of attempts, if one was set.
     *
     * @return the limit
     */
    public Optional<Integer> maxAttempts() {
        return get("maxAttempts", Integer.class);
    }

    /**
     * The ordering key, if one was set.
     *
     * @return the key
     */
    public Optional<String> orderingKey() {
        return get("orderingKey", String.class);
    }

    /**
     * The limit key, if one was set.
     *
     * @return the key
     */
    public Optional<String> limitKey() {
        return get("limitKey", String.class);
    }

    /**
     * The dedup key, if one was set.
     *
     * @return the key
     */
    public Optional<String> dedupKey() {
        return get("dedupKey", String.class);
    }

    /**
     * What becomes of a duplicate, if a dedup key was set.
     *
     * @return the mode
     */
    public Optional<DedupMode> dedupMode() {
        return get("dedupMode", DedupMode.class);
    }

    private <V> Optional<V> get(String option, Class<V> type) {
        return Optional.ofNullable(type.cast(set.get(option)));
    }

    private JobOptions put(String option, Object value) {
        if (set.putIfAbsent(option, value) != null) {
            throw new InvalidUseException(option + " is set twice for one job");
        }
        return this;
    }

    private void refuseWith(String option, String other) {
        if (set.containsKey(other)) {
            throw new InvalidUseException(option + " and " + other + " cannot both be set for one job");
        }
    }
}
