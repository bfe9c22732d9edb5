package io.rowlock.testkit;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job for testing a handler alone: no worker, no row, no SQL. Says what it is told to say, and remembers whether the
 * handler completed or snoozed it. Not safe for use by several threads, but for {@link #cancel()}.
 */
public final class TestJob implements JobContext {
    private final String kind;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private long id = 1;
    private int attempt = 1;
    private int maxAttempts = 50;
    private @Nullable String subject;
    private volatile boolean cancelled;
    private boolean completed;
    private @Nullable Duration snoozed;

    private TestJob(String kind) {
        this.kind = kind;
    }

    /**
     * A first attempt of a job with id 1 in queue {@code default}.
     *
     * @param kind the kind's name
     * @return the job
     * @throws InvalidUseException if no job can be of such a kind
     */
    public static TestJob ofKind(String kind) {
        return new TestJob(JobKind.named(kind, Object.class).name());
    }

    /**
     * Sets the id, and with it the idempotency key.
     *
     * @param id the id, at least 1
     * @return this
     * @throws InvalidUseException if less
     */
    public TestJob id(long id) {
        if (id < 1) {
            throw new InvalidUseException("id must be at least 1, got " + id);
        }
        this.id = id;
        return this;
    }

    /**
     * Sets which attempt it is.
     *
     * @param attempt 1 for the first
     * @param of after how many the job is dead
     * @return this
     * @throws InvalidUseException if the attempt is not between 1 and the limit
     */
    public TestJob attempt(int attempt, int of) {
        if (attempt < 1 || attempt > of) {
            throw new InvalidUseException("attempt must be between 1 and " + of + ", got " + attempt);
        }
        this.attempt = attempt;
        this.maxAttempts = of;
        return this;
    }

    /**
     * Sets what the job is about.
     *
     * @param subject the subject
     * @return this
     * @throws InvalidUseException if no job can have it
     */
    public TestJob subject(String subject) {
        this.subject = new JobOptions().subject(subject).subject().orElseThrow();
        return this;
    }

    /**
     * Adds a header.
     *
     * @param name the name
     * @param value the value
     * @return this
     * @throws InvalidUseException if no job can have it
     */
    public TestJob header(String name, String value) {
        headers.putAll(new JobOptions().header(name, value).headers());
        return this;
    }

    /** Makes {@link #cancelled()} say true, as when the lease was lost. */
    public void cancel() {
        cancelled = true;
    }

    /**
     * Whether the handler called {@link #completeIn}.
     *
     * @return true if it did
     */
    public boolean wasCompleted() {
        return completed;
    }

    /**
     * The delay with which the handler called {@link #snoozeIn}.
     *
     * @return the delay, or empty if it did not
     */
    public Optional<Duration> snoozed() {
        return Optional.ofNullable(snoozed);
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public String kind() {
        return kind;
    }

    @Override
    public String queue() {
        return "default";
    }

    @Override
    public @Nullable String subject() {
        return subject;
    }

    @Override
    public Map<String, String> headers() {
        return Map.copyOf(headers);
    }

    @Override
    public int attempt() {
        return attempt;
    }

    @Override
    public int maxAttempts() {
        return maxAttempts;
    }

    @Override
    public long token() {
        return attempt;
    }

    @Override
    public String idempotencyKey() {
        return "test-" + id;
    }

    @Override
    public boolean cancelled() {
        return cancelled;
    }

    @Override
    public void lockIn(Connection connection) {
        given(connection); // nobody else could hold it
    }

    @Override
    public void completeIn(Connection connection) {
        given(connection);
        decideOnce();
        completed = true;
    }

    @Override
    public void snoozeIn(Connection connection, Duration delay) {
        given(connection);
        new JobOptions().after(delay); // has the same range
        decideOnce();
        snoozed = delay;
    }

    private static void given(Connection connection) {
        if (connection == null) {
            throw new InvalidUseException("A job is locked, completed or snoozed over a connection, got null");
        }
    }

    private void decideOnce() {
        if (completed || snoozed != null) {
            throw new InvalidUseException("The job was completed or snoozed already (job=" + id + ")");
        }
    }
}
