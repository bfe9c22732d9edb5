package io.rowlock;

import io.rowlock.alert.Alerts;
import io.rowlock.checkup.Finding;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockListener;
import io.rowlock.idempotency.Answers;
import io.rowlock.idempotency.IdempotencyKeys;
import io.rowlock.internal.alert.Alarms;
import io.rowlock.internal.alert.Deliveries;
import io.rowlock.internal.alert.RowAlerts;
import io.rowlock.internal.checkup.RowlockCheckup;
import io.rowlock.internal.checkup.Thresholds;
import io.rowlock.internal.engine.CrankedEngine;
import io.rowlock.internal.engine.Events;
import io.rowlock.internal.engine.Ground;
import io.rowlock.internal.engine.Notifier;
import io.rowlock.internal.engine.ThreadedWorker;
import io.rowlock.internal.idempotency.RowAnswers;
import io.rowlock.internal.idempotency.RowIdempotencyKeys;
import io.rowlock.internal.jobs.RowJobs;
import io.rowlock.internal.jobs.RowQueues;
import io.rowlock.internal.lease.RowLeases;
import io.rowlock.internal.operation.RowOperations;
import io.rowlock.internal.outbox.ContextHeaders;
import io.rowlock.internal.outbox.Kinds;
import io.rowlock.internal.outbox.RowOutbox;
import io.rowlock.internal.outbox.WakingOutbox;
import io.rowlock.internal.schedule.RowSchedules;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.QueueSql;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.Jobs;
import io.rowlock.job.Outbox;
import io.rowlock.job.Queues;
import io.rowlock.lease.AdvisoryLeader;
import io.rowlock.lease.Leader;
import io.rowlock.lease.Leases;
import io.rowlock.lease.Partitions;
import io.rowlock.operation.Operations;
import io.rowlock.schedule.Schedules;
import io.rowlock.schema.Schema;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.spi.RowlockParts;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerConfig;
import io.rowlock.worker.WorkerHealth;
import io.rowlock.worker.WorkerSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Rowlock on one database: the outbox, the workers, the tables. Make one per database with {@link #builder()} and keep
 * it as long as the application lives. Holds no connection and no thread of its own, but with notifications one of each
 * for a second after a commit; workers and leases do. Safe for use by many threads.
 */
public final class Rowlock {
    private final JdbcSchema schema;
    private final RowlockCheckup checkup;
    private final RowOutbox plainOutbox;
    private final Outbox outbox;
    private final RowJobs jobs;
    private final RowQueues queues;
    private final RowSchedules schedules;
    private final RowAlerts alerts;
    private final RowOperations operations;
    private final Deliveries deliveries;
    private final RowIdempotencyKeys idempotencyKeys;
    private final RowAnswers answers;
    private final RowLeases leases;
    private final Names names;
    private final Kinds kinds = new Kinds();
    private final Events events;
    private final @Nullable Notifier notifier;
    private final Ground ground;
    private final RowlockParts parts;
    private final List<ThreadedWorker> workers = new CopyOnWriteArrayList<>();

    Rowlock(RowlockBuilder builder) {
        this.names = builder.names();
        PayloadCodec codec = builder.codec();
        this.schema = new JdbcSchema(builder.connections(), names);
        this.events = new Events(builder.listeners());
        this.checkup = new RowlockCheckup(names, builder.connections(), schema, Thresholds.DEFAULT, Clock.systemUTC());
        this.plainOutbox = new RowOutbox(
                names, codec, kinds, builder.maxPayloadBytes(), new ContextHeaders(builder.contributors()), listener());
        this.outbox = builder.afterCommit()
                .<Outbox>map(spi -> new WakingOutbox(plainOutbox, spi, this::wake))
                .orElse(plainOutbox);
        this.notifier = builder.notifications() ? new Notifier(builder.connections(), names, events) : null;
        this.schedules = new RowSchedules(
                names,
                builder.connections(),
                plainOutbox,
                builder.access(),
                this::wake,
                listener(),
                this::schedulesChanged);
        this.alerts = new RowAlerts(names, builder.connections(), builder.access(), kinds);
        this.operations = new RowOperations(names, builder.connections(), builder.access());
        this.deliveries = new Deliveries(names, builder.connections(), builder.sinks());
        this.idempotencyKeys = new RowIdempotencyKeys(names, codec, builder.maxPayloadBytes(), listener());
        this.ground = new Ground(
                builder.connections(),
                names,
                codec,
                builder.interceptors(),
                events,
                notifier,
                this::lookAgain,
                this::wake,
                new Alarms(builder.alertLimits(), List.copyOf(builder.sinks().keySet()), Clock.systemUTC()));
        this.answers = new RowAnswers(names, builder.connections(), builder.access());
        this.jobs = new RowJobs(
                names,
                builder.connections(),
                builder.access(),
                kinds,
                new RowJobs.Committed(this::cancelled, this::cancelRequested, this::lookAgain, listener()));
        this.queues = new RowQueues(new QueueSql(names), builder.connections(), builder.access(), this::lookAgain);
        this.leases = new RowLeases(names, builder.connections(), builder.access(), events);
        this.parts = new Parts(
                builder.connections(),
                names.schema(),
                names.prefix(),
                codec,
                builder.maxPayloadBytes(),
                listener(),
                builder.access(),
                this::lookAgain);
    }

    /**
     * Begins to put a Rowlock together.
     *
     * @return an empty builder
     */
    public static RowlockBuilder builder() {
        return new RowlockBuilder();
    }

    /**
     * Rowlock's tables.
     *
     * @return the tables of the configured schema
     */
    public Schema schema() {
        return schema;
    }

    /**
     * Looks at everything outside of Rowlock that its promises stand on: connections and poolers, the server's settings,
     * tables, indexes and rights, dead rows and who keeps them, clocks, durability, and jobs that wait for a handler, a worker
     * or a person. Reads only, over two connections of the data source and with the rights that workers need; what they do not
     * allow to see is a finding too, and says which right would. Blocks: some forty statements, of which each is ended after 5 s,
     * and as long as the data source lets wait for a second connection.
     * Kinds and queues are judged by the workers that were made by this Rowlock and not stopped; without one, only by whether
     * due jobs are taken. May be called at any time, from any thread; a crash leaves nothing.
     *
     * @return what was found, the heaviest first; empty if there is nothing to say. A database that cannot be reached is a
     *     finding, not an exception
     * @throws InvalidUseException if this Rowlock has no data source
     */
    public List<Finding> checkup() {
        workers.removeIf(ThreadedWorker::stopped);
        return checkup.run(workers.stream().map(ThreadedWorker::serving).toList());
    }

    /**
     * The door through which a transaction writes jobs.
     *
     * @return the outbox
     */
    public Outbox outbox() {
        return outbox;
    }

    /**
     * Looks jobs up, and does to them what people do: cancel, revive, reschedule, move, delete, redact.
     *
     * @return jobs on connections of the data source
     */
    public Jobs jobs() {
        return jobs;
    }

    /**
     * Pauses queues and sets what holds for them in all workers.
     *
     * @return the queues' settings
     */
    public Queues queues() {
        return queues;
    }

    /**
     * Declares, shows, pauses, runs and removes schedules.
     *
     * @return the schedules, on connections of the data source
     */
    public Schedules schedules() {
        return schedules;
    }

    /**
     * Looks alerts up, and takes them over.
     *
     * @return the alerts, on connections of the data source
     */
    public Alerts alerts() {
        return alerts;
    }

    /**
     * Reads what people did to jobs, sagas, queues, schedules, alerts, leases and stored answers, and why.
     *
     * @return what was done, on connections of the data source
     */
    public Operations operations() {
        return operations;
    }

    /**
     * Does requests that clients may repeat once, and answers their repetitions the same.
     *
     * @return the keys, with {@link io.rowlock.idempotency.IdempotencyOptions#standard()}
     */
    public IdempotencyKeys idempotencyKeys() {
        return idempotencyKeys;
    }

    /**
     * What those requests were answered, for people: read, and taken out.
     *
     * @return the answers, on connections of the data source
     */
    public Answers answers() {
        return answers;
    }

    /**
     * Named leases with fencing tokens.
     *
     * @return the leases, on connections of the data source
     */
    public Leases leases() {
        return leases;
    }

    /**
     * Lets one process at a time do something, by leases that can be taken 30 s after a crash.
     *
     * @return leaders by leases
     */
    public Leader leader() {
        return leader(Leases.TIME_TO_LIVE);
    }

    /**
     * The same with another time to live.
     *
     * @param timeToLive 1 s to 1 day: how long after a crash until another can lead
     * @return leaders by leases
     * @throws InvalidUseException if out of range
     */
    public Leader leader(Duration timeToLive) {
        return leases.contenders().leader(timeToLive);
    }

    /**
     * A leader by an advisory lock on a session of its own, a connection of the data source that it keeps while it leads.
     *
     * @param name 1 to 200 characters, the same in all processes
     * @return the leader; does nothing by itself
     * @throws InvalidUseException if the name is not allowed
     */
    public AdvisoryLeader advisoryLeader(String name) {
        return advisoryLeader(name, parts.connections());
    }

    /**
     * The same over other connections: such as lead to the server directly where the data source goes through a pooler.
     *
     * @param name as for {@link #advisoryLeader(String)}
     * @param direct connections to the same database
     * @return the leader; does nothing by itself
     * @throws InvalidUseException if the name is not allowed
     */
    public AdvisoryLeader advisoryLeader(String name, ConnectionSource direct) {
        return leases.contenders().advisoryLeader(names, direct, name);
    }

    /**
     * Divides work into parts that processes share, by leases that can be taken 30 s after a crash.
     *
     * @return partitions by leases
     */
    public Partitions partitions() {
        return partitions(Leases.TIME_TO_LIVE);
    }

    /**
     * The same with another time to live.
     *
     * @param timeToLive 1 s to 1 day: how long after a crash until another can take a part
     * @return partitions by leases
     * @throws InvalidUseException if out of range
     */
    public Partitions partitions(Duration timeToLive) {
        return leases.contenders().partitions(names, timeToLive);
    }

    /**
     * How the workers, leases, leaders and partitions of this Rowlock are: what a readiness probe may show.
     *
     * @return as of now; asks no database
     */
    public RowlockHealth health() {
        Map<String, WorkerHealth> each = new LinkedHashMap<>();
        workers.stream().filter(worker -> !worker.stopped()).forEach(worker -> each.put(worker.id(), worker.health()));
        return new RowlockHealth(each, leases.health());
    }

    /**
     * What modules beside core build on; applications need none of it.
     *
     * @return the parts, the same ones for as long as this lives
     */
    public RowlockParts parts() {
        return parts;
    }

    private void cancelled(long id) {
        workers.forEach(worker -> worker.cancelled(id));
    }

    private void cancelRequested(long id) {
        workers.forEach(worker -> worker.cancelRequested(id));
    }

    private void schedulesChanged() {
        workers.forEach(ThreadedWorker::schedulesChanged);
    }

    private void lookAgain() {
        workers.forEach(ThreadedWorker::lookAgain);
        tellOthers(List.of());
    }

    private void tellOthers(Collection<Enqueued> committed) {
        if (notifier != null) {
            notifier.tell(committed);
        }
    }

    /** Writes the jobs of a persistence unit, which itself tells of its commits. */
    Outbox plainOutbox() {
        return plainOutbox;
    }

    /** Tells this Rowlock's listeners; throws nothing. */
    RowlockListener listener() {
        return events::tell;
    }

    /**
     * Makes a worker without threads, cranked by its caller: for tests and for programs that empty a queue and end.
     *
     * @param config fills in queues and handlers; executor and poll count for nothing
     * @return the worker, to be closed
     * @throws InvalidUseException if the configuration is wrong, as for {@link #worker}
     * @throws io.rowlock.error.SchemaException if Rowlock's tables are missing, older than this version or differ
     * @throws io.rowlock.error.DatabaseException if the database cannot be reached
     */
    public HandCrankedWorker handCrankedWorker(Consumer<WorkerConfig> config) {
        return new CrankedEngine(ground, schema, schedules, settings(config));
    }

    /**
     * Makes a worker; it does nothing before it is started.
     *
     * @param config fills in queues and handlers
     * @return the worker
     * @throws InvalidUseException if the configuration is wrong, has no handler, names a kind that
     *     stands for another payload type already, or has a schedule that cannot be
     */
    public Worker worker(Consumer<WorkerConfig> config) {
        ThreadedWorker worker = new ThreadedWorker(ground, schema, schedules, settings(config));
        workers.removeIf(ThreadedWorker::stopped);
        workers.add(worker);
        return worker;
    }

    private WorkerSettings settings(Consumer<WorkerConfig> config) {
        if (config == null) {
            throw new InvalidUseException("The configuration of a worker must not be null");
        }
        WorkerConfig filled = new WorkerConfig();
        config.accept(filled);
        WorkerSettings settings = deliveries.with(filled.settings());
        settings.handlers().forEach(binding -> kinds.register(binding.kind()));
        settings.schedules().forEach(schedules::check);
        return settings;
    }

    /** Notes the kinds of a persistence unit, or refuses one whose name stands for another payload type already. */
    void register(Collection<JobKind<?>> unitKinds) {
        unitKinds.forEach(kinds::register);
    }

    /**
     * Wakes this JVM's workers for jobs whose transaction has committed, and with {@link RowlockBuilder#notifications}
     * those of other processes. For transactions that nobody tells Rowlock of ({@link io.rowlock.spi.AfterCommit}); without
     * it the poll finds the jobs. Costs the caller no statement. Never blocks, never throws.
     *
     * @param committed the answers of the enqueues; may be empty: then workers look at once where they would at their
     *     next poll
     */
    public void wake(Collection<Enqueued> committed) {
        workers.forEach(worker -> worker.wake(committed));
        tellOthers(committed);
    }
}
