package io.rowlock.worker;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobKind;
import io.rowlock.job.TransactionalJobHandler;
import io.rowlock.schedule.Schedule;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.spi.WorkerExtension;
import io.rowlock.worker.HandlerBinding.Contract;
import io.rowlock.worker.HandlerBinding.Leased;
import io.rowlock.worker.HandlerBinding.Transactional;
import io.rowlock.worker.HandlerBinding.TransactionalJdbc;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a worker serves and how. Filled in by the lambda of {@code Rowlock.worker}; for one thread. Setting one thing
 * twice is an error.
 *
 * <p>A handler is given for a class with {@link io.rowlock.job.Kind} or for a {@link JobKind}, under one of three
 * contracts (leased, JDBC transaction, a framework's transaction), with settings or without: all twelve are there.
 */
public final class WorkerConfig {
    private final Map<String, Integer> queues = new LinkedHashMap<>();
    private final Set<HandlerBinding<?>> handlers = new LinkedHashSet<>();
    private final Set<String> kindNames = new HashSet<>();
    private final Map<String, Object> set = new LinkedHashMap<>();
    private final List<WorkerExtension> extensions = new ArrayList<>();
    private final Map<String, Schedule<?>> schedules = new LinkedHashMap<>();

    /** Makes an empty configuration. */
    public WorkerConfig() {}

    /**
     * Names the worker: the first part of its id, for people. The id stands in each row that the worker has claimed; a short
     * name keeps these in their pages, so that a claim writes no index.
     *
     * @param name 1 to 100 characters; {@code worker} by default
     * @return this
     * @throws InvalidUseException if not allowed or set twice
     */
    public WorkerConfig name(String name) {
        if (name == null || name.isBlank() || name.length() > 100) {
            throw new InvalidUseException("name must have 1 to 100 characters, got " + name);
        }
        return put("name", name);
    }

    /**
     * Serves a queue. Without any, the worker serves {@code default} with 10.
     *
     * @param queue the queue's name
     * @param concurrency how many of its jobs run at once in this worker, 1 to 10,000
     * @return this
     * @throws InvalidUseException if not allowed or named twice
     */
    public WorkerConfig queue(String queue, int concurrency) {
        if (queue == null || queue.isBlank() || queue.length() > 200) {
            throw new InvalidUseException("queue must have 1 to 200 characters, got " + queue);
        }
        if (queues.putIfAbsent(queue, between("concurrency of queue " + queue, concurrency, 1, 10_000)) != null) {
            throw new InvalidUseException("Queue " + queue + " is given twice");
        }
        return this;
    }

    /**
     * Handles a kind under the leased contract.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param handler the handler
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind is not allowed or has a handler already
     */
    public <T> WorkerConfig handle(Class<T> payloadType, JobHandler<T> handler) {
        return handle(JobKind.of(payloadType), handler, options -> {});
    }

    /**
     * Handles a kind under the leased contract, with settings.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param handler the handler
     * @param options fills in retry, timeout, concurrency
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind is not allowed or has a handler already
     */
    public <T> WorkerConfig handle(Class<T> payloadType, JobHandler<T> handler, Consumer<HandlerConfig> options) {
        return handle(JobKind.of(payloadType), handler, options);
    }

    /**
     * Handles a kind given by hand under the leased contract.
     *
     * @param kind the kind
     * @param handler the handler
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind has a handler already
     */
    public <T> WorkerConfig handle(JobKind<T> kind, JobHandler<T> handler) {
        return handle(kind, handler, options -> {});
    }

    /**
     * Handles a kind given by hand under the leased contract, with settings.
     *
     * @param kind the kind
     * @param handler the handler
     * @param options fills in retry, timeout, concurrency
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind has a handler already
     */
    public <T> WorkerConfig handle(JobKind<T> kind, JobHandler<T> handler, Consumer<HandlerConfig> options) {
        return bind(kind, new Leased<>(required(handler)), options);
    }

    /**
     * Handles a kind inside a JDBC transaction that also completes the job, on a connection of Rowlock's data source.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param handler the handler
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind is not allowed or has a handler already
     */
    public <T> WorkerConfig handleTransactionally(
            Class<T> payloadType, TransactionalJobHandler<T, Connection> handler) {
        return handleTransactionally(JobKind.of(payloadType), handler, options -> {});
    }

    /**
     * Handles a kind inside a JDBC transaction that also completes the job, with settings.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param handler the handler
     * @param options fills in retry, timeout, concurrency
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind is not allowed or has a handler already
     */
    public <T> WorkerConfig handleTransactionally(
            Class<T> payloadType, TransactionalJobHandler<T, Connection> handler, Consumer<HandlerConfig> options) {
        return handleTransactionally(JobKind.of(payloadType), handler, options);
    }

    /**
     * Handles a kind given by hand inside a JDBC transaction that also completes the job.
     *
     * @param kind the kind
     * @param handler the handler
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind has a handler already
     */
    public <T> WorkerConfig handleTransactionally(JobKind<T> kind, TransactionalJobHandler<T, Connection> handler) {
        return handleTransactionally(kind, handler, options -> {});
    }

    /**
     * Handles a kind given by hand inside a JDBC transaction that also completes the job, with settings.
     *
     * @param kind the kind
     * @param handler the handler
     * @param options fills in retry, timeout, concurrency
     * @param <T> the type of the payload
     * @return this
     * @throws InvalidUseException if the kind has a handler already
     */
    public <T> WorkerConfig handleTransactionally(
            JobKind<T> kind, TransactionalJobHandler<T, Connection> handler, Consumer<HandlerConfig> options) {
        return bind(kind, new TransactionalJdbc<>(required(handler)), options);
    }

    /**
     * Handles a kind inside a transaction of a framework that also completes the job.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param runner opens the framework's transactions
     * @param handler the handler
     * @param <T> the type of the payload
     * @param <R> what the handler works through
     * @return this
     * @throws InvalidUseException if the kind is not allowed or has a handler already
     */
    public <T, R> WorkerConfig handleTransactionally(
            Class<T> payloadType, TransactionRunner<R> runner, TransactionalJobHandler<T, R> handler) {
        return handleTransactionally(JobKind.of(payloadType), runner, handler, options -> {});
    }

    /**
     * Handles a kind inside a transaction of a framework that also completes the job, with settings.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @param runner opens the framework's transactions
     * @param handler the handler
     * @param options fills in retry, timeout, concurrency
     * @param <T> the type of the payload
     * @param <R> what the handler works through
     * @return this
     * @throws InvalidUseException if the kind is not allowed or has a handler already
     */
    public <T, R> WorkerConfig handleTransactionally(
            Class<T> payloadType,
            TransactionRunner<R> runner,
            TransactionalJobHandler<T, R> handler,
            Consumer<HandlerConfig> options) {
        return handleTransactionally(JobKind.of(payloadType), runner, handler, options);
    }

    /**
     * Handles a kind given by hand inside a transaction of a framework that also completes the job.
     *
     * @param kind the kind
     * @param runner opens the framework's transactions
     * @param handler the handler
     * @param <T> the type of the payload
     * @param <R> what the handler works through
     * @return this
     * @throws InvalidUseException if the kind has a handler already
     */
    public <T, R> WorkerConfig handleTransactionally(
            JobKind<T> kind, TransactionRunner<R> runner, TransactionalJobHandler<T, R> handler) {
        return handleTransactionally(kind, runner, handler, options -> {});
    }

    /**
     * Handles a kind given by hand inside a transaction of a framework that also completes the job, with settings.
     *
     * @param kind the kind
     * @param runner opens the framework's transactions
     * @param handler the handler
     * @param options fills in retry, timeout, concurrency
     * @param <T> the type of the payload
     * @param <R> what the handler works through
     * @return this
     * @throws InvalidUseException if the kind has a handler already
     */
    public <T, R> WorkerConfig handleTransactionally(
            JobKind<T> kind,
            TransactionRunner<R> runner,
            TransactionalJobHandler<T, R> handler,
            Consumer<HandlerConfig> options) {
        return bind(kind, new Transactional<>(required(runner), required(handler)), options);
    }

    /**
     * Sets how long a claim holds without a heartbeat: a dead worker's jobs run again after at most this and one poll.
     *
     * @param lease 1 s to 1 h; 60 s by default
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public WorkerConfig lease(Duration lease) {
        return put("lease", between("lease", lease, 1_000, Duration.ofHours(1)));
    }

    /**
     * Sets how often an idle worker asks for jobs.
     *
     * @param interval 10 ms to 1 h; 1 s by default
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public WorkerConfig poll(Duration interval) {
        return put("poll", between("poll", interval, 10, Duration.ofHours(1)));
    }

    /**
     * Sets how long completed and cancelled rows are kept: short for {@link #retention} with these two and the rest as it is by
     * default. With 0 cancelled rows, and completed ones of {@link io.rowlock.job.DedupMode#ONCE}, are kept for 24 h all the same.
     *
     * @param retention 0 (delete at once) to 10 years; 24 h by default
     * @return this
     * @throws InvalidUseException if out of range, or set twice, or beside {@link #retention}
     */
    public WorkerConfig keepCompleted(Duration retention) {
        return put("keepCompleted", between("keepCompleted", retention, 0, Duration.ofDays(3_653)));
    }

    /**
     * Sets how long rows are kept: completed, cancelled and dead jobs, alerts, failures, operations.
     *
     * @param retention {@link Retention#standard()} by default
     * @return this
     * @throws InvalidUseException if null, or set twice, or beside {@link #keepCompleted}
     */
    public WorkerConfig retention(Retention retention) {
        if (retention == null) {
            throw new InvalidUseException("retention must not be null");
        }
        return put("retention", retention);
    }

    /**
     * Runs handlers on this executor, such as one of virtual threads. It is not shut down.
     *
     * @param executor platform threads of the worker's own by default
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public WorkerConfig executor(Executor executor) {
        return put("executor", required(executor));
    }

    /**
     * Adds what a module beside core does in this worker. May be called several times; they take their turns in that order.
     *
     * @param extension called when the worker starts, now and then, and when it has stopped; none by default
     * @return this
     * @throws InvalidUseException if null or added before
     */
    public WorkerConfig extension(WorkerExtension extension) {
        if (extension == null) {
            throw new InvalidUseException("extension must not be null");
        }
        if (extensions.stream().anyMatch(each -> each == extension)) {
            throw new InvalidUseException("An extension is given twice for one worker: " + extension);
        }
        extensions.add(extension);
        return this;
    }

    /**
     * Adds a schedule: declared when the worker starts, see {@link io.rowlock.schedule.Schedules#declare}. Its jobs are made
     * by any worker of the database, and may be of a kind that this one does not handle. May be called several times.
     *
     * @param schedule the schedule; none by default
     * @return this
     * @throws InvalidUseException if null, or another with its name was added
     */
    public WorkerConfig schedule(Schedule<?> schedule) {
        if (schedule == null) {
            throw new InvalidUseException("schedule must not be null");
        }
        if (schedules.putIfAbsent(schedule.name(), schedule) != null) {
            throw new InvalidUseException("Schedule " + schedule.name() + " is given twice for one worker");
        }
        return this;
    }

    /**
     * What was said, with defaults for the rest.
     *
     * @return the settings
     * @throws InvalidUseException if no handler was given
     */
    public WorkerSettings settings() {
        if (handlers.isEmpty()) {
            throw new InvalidUseException("A worker needs at least one handler: call handle(...)");
        }
        return new WorkerSettings(
                get("name", "worker"),
                queues.isEmpty() ? Map.of("default", 10) : queues,
                List.copyOf(handlers),
                new WorkerSettings.Timing(get("lease", Duration.ofSeconds(60)), get("poll", Duration.ofSeconds(1))),
                rowsKept(),
                (Executor) set.get("executor"),
                extensions,
                List.copyOf(schedules.values()));
    }

    private Retention rowsKept() {
        Duration both = (Duration) set.get("keepCompleted");
        if (both == null) {
            return get("retention", Retention.standard());
        }
        if (set.containsKey("retention")) {
            throw new InvalidUseException("keepCompleted is short for a retention; set one of the two");
        }
        Retention completed = Retention.standard().completed(both);
        return both.isZero() ? completed : completed.cancelled(both);
    }

    private <T> WorkerConfig bind(JobKind<T> kind, Contract<T> contract, Consumer<HandlerConfig> options) {
        if (kind == null || options == null) {
            throw new InvalidUseException(
                    (kind == null ? "The kind" : "The settings") + " of a handler must not be null");
        }
        Set<String> names = new LinkedHashSet<>(kind.aliases());
        names.add(kind.name());
        for (String name : names) {
            if (!kindNames.add(name)) {
                throw new InvalidUseException("Kind " + name + " has two handlers in one worker");
            }
        }
        HandlerConfig config = new HandlerConfig();
        options.accept(config);
        handlers.add(new HandlerBinding<>(kind, contract, config.settings(kind)));
        return this;
    }

    private WorkerConfig put(String option, Object value) {
        if (set.putIfAbsent(option, value) != null) {
            throw new InvalidUseException(option + " is set twice for one worker");
        }
        return this;
    }

    @SuppressWarnings("unchecked")
    private <V> V get(String option, V byDefault) {
        return (V) set.getOrDefault(option, byDefault);
    }

    private static <V> V required(@Nullable V value) {
        if (value == null) {
            throw new InvalidUseException("A handler, runner or executor must not be null");
        }
        return value;
    }

    static int between(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new InvalidUseException(what + " must be between " + least + " and " + most + ", got " + value);
        }
        return value;
    }

    static Duration between(String what, @Nullable Duration value, long leastMillis, Duration most) {
        if (value == null || value.compareTo(Duration.ofMillis(leastMillis)) < 0 || value.compareTo(most) > 0) {
            throw new InvalidUseException(
                    what + " must be between " + Duration.ofMillis(leastMillis) + " and " + most + ", got " + value);
        }
        return value;
    }
}
