package io.rowlock.internal.engine;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.WorkerStarted;
import io.rowlock.event.RowlockEvent.WorkerStopped;
import io.rowlock.internal.checkup.Serving;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.schedule.RowSchedules;
import io.rowlock.internal.schema.JdbcSchema;
import io.rowlock.job.Enqueued;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth;
import io.rowlock.worker.WorkerHealth.State;
import io.rowlock.worker.WorkerSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker driven by five loops: claimer, completer, heartbeat, pruner, scheduler. */
public final class ThreadedWorker implements Worker {
    private static final Logger LOG = LoggerFactory.getLogger(ThreadedWorker.class);
    private static final long RETRY_START = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long SAY_WAITING = TimeUnit.MINUTES.toNanos(1);
    private static final long LAST_WRITES = TimeUnit.SECONDS.toNanos(5);

    private final Ground ground;
    private final JdbcSchema schema;
    private final RowSchedules schedules;
    private final WorkerSettings settings;
    private final String id;
    private final Extensions extensions;
    private final Object monitor = new Object();
    private State state = State.NEW;
    private volatile @Nullable Running running;

    public ThreadedWorker(Ground ground, JdbcSchema schema, RowSchedules schedules, WorkerSettings settings) {
        this.ground = ground;
        this.schedules = schedules;
        this.schema = schema;
        this.settings = settings;
        this.id = settings.name()
                + '-'
                + ProcessHandle.current().pid()
                + '-'
                + UUID.randomUUID().toString().substring(0, 13);
        this.extensions = new Extensions(settings.extensions(), id, ground.events());
    }

    /** What exists between start and stop. */
    private record Running(
            Engine engine,
            Loop claimer,
            Loop completer,
            Loop heartbeat,
            Loop pruner,
            Loop scheduler,
            @Nullable ExecutorService own) {
        List<Loop> loops() {
            return List.of(claimer, completer, heartbeat, pruner, scheduler);
        }
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public void start() {
        synchronized (monitor) {
            if (state != State.NEW) {
                throw new InvalidUseException("A worker is started once; make a new one (worker=" + id + ")");
            }
            state = State.STARTING;
        }
        boolean begun = false;
        try {
            begun = begin(awaitDatabase());
        } catch (RuntimeException | Error e) {
            moveTo(State.STOPPED);
            throw e;
        } finally {
            if (!begun) {
                extensions.stop();
            }
        }
        if (begun) {
            tellStarted();
        }
    }

    /** False if it was stopped meanwhile. */
    private boolean begin(String installation) {
        synchronized (monitor) {
            if (state != State.STARTING) {
                return false;
            }
            Running started = assemble(installation);
            running = started;
            state = State.RUNNING;
            startLoops(started);
            return true;
        }
    }

    private void tellStarted() {
        LOG.info(
                "Worker started (worker={}, queues={}, kinds={})",
                id,
                settings.queues(),
                settings.handlers().stream()
                        .map(binding -> binding.kind().name())
                        .toList());
        ground.events().tell(new WorkerStarted(id));
    }

    /** All, or none: there may be no thread to be had. */
    private static void startLoops(Running started) {
        try {
            started.loops().forEach(Loop::start);
        } catch (RuntimeException | Error e) {
            started.engine().claimer.end();
            started.loops().forEach(Loop::stop);
            started.engine().close();
            throw e;
        }
    }

    /** Waits until the database answers, checks the tables, declares schedules, starts extensions, and gives the installation's name. */
    private String awaitDatabase() {
        long saidAt = 0;
        while (true) {
            try (Connection connection = ground.connections().get()) {
                schema.validate(connection);
                String installation = schema.installation(connection);
                schedules.declare(connection, settings.schedules());
                extensions.start(connection);
                return installation;
            } catch (SQLException e) {
                DatabaseException lasting = StartRefusal.lasting(e);
                if (lasting != null) {
                    throw lasting;
                }
                long now = System.nanoTime();
                if (saidAt == 0 || now - saidAt > SAY_WAITING) {
                    saidAt = now;
                    LOG.warn(
                            "The database cannot be used yet; the worker waits for it and tries again (worker={}): {}",
                            id,
                            e.toString());
                }
                if (!pauseWhileStarting()) {
                    throw new DatabaseException("The worker was stopped while it waited for the database", e);
                }
            }
        }
    }

    private boolean pauseWhileStarting() {
        synchronized (monitor) {
            try {
                if (state == State.STARTING) {
                    TimeUnit.NANOSECONDS.timedWait(monitor, RETRY_START);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            return state == State.STARTING;
        }
    }

    private Running assemble(String installation) {
        Executor given = settings.executor();
        ExecutorService own = given == null ? platformThreads() : null;
        Executor executor = given == null ? Objects.requireNonNull(own) : given;
        Identity identity = new Identity(
                id,
                settings.timing().lease(),
                installation,
                settings.retention().completed().isZero(),
                this::stopping);
        Engine engine = new Engine(ground, settings, identity, executor, this::worthClaiming);
        return new Running(
                engine,
                loop("claimer", engine.claimer::step),
                loop("completer", engine.completer::step),
                loop("heartbeat", engine::beatAndListen),
                loop("pruner", () -> engine.prune(extensions)),
                loop("scheduler", engine.scheduler::step),
                own);
    }

    private Loop loop(String name, Loop.Step step) {
        return new Loop(name, id, ground.events(), step);
    }

    private ExecutorService platformThreads() {
        AtomicInteger number = new AtomicInteger();
        return Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, id + "-handler-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    private void worthClaiming() {
        Running now = running;
        if (now != null && now.engine().claimer.moreDue()) {
            now.claimer().wake();
        }
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    private boolean stopping() {
        synchronized (monitor) {
            return state == State.STOPPING || state == State.STOPPED;
        }
    }

    /** What it does once it runs. */
    public Serving serving() {
        return new Serving(
                settings.handlers().stream()
                        .map(binding -> binding.kind().name())
                        .collect(Collectors.toSet()),
                settings.queues().keySet());
    }

    /** Whether it will never claim again. */
    public boolean stopped() {
        synchronized (monitor) {
            return state == State.STOPPED;
        }
    }

    /** Jobs have committed in this JVM. */
    public void wake(Collection<Enqueued> committed) {
        Running now = running;
        if (now != null) {
            now.engine().committed(committed);
            now.claimer().wake();
        }
    }

    /** A job was cancelled under whoever works on it. */
    public void cancelled(long id) {
        Running now = running;
        if (now != null) {
            now.engine().cancelled(id);
        }
    }

    /** A cancel of a job was asked for, for whoever works on it. */
    public void cancelRequested(long id) {
        Running now = running;
        if (now != null && now.engine().cancelRequests.tell(id)) {
            now.heartbeat().wake();
        }
    }

    /** Jobs may have become due that no enqueue told of. */
    public void lookAgain() {
        Running now = running;
        if (now != null) {
            now.engine().settingsChanged();
            now.claimer().wake();
        }
    }

    /** Schedules were declared or changed in this JVM. */
    public void schedulesChanged() {
        Running now = running;
        if (now != null) {
            now.engine().scheduler.lookAnew();
            now.scheduler().wake();
        }
    }

    @Override
    public void stop(Duration grace) {
        if (grace == null || grace.isNegative()) {
            throw new InvalidUseException("grace must not be null or negative, got " + grace);
        }
        long graceUntil = System.nanoTime() + nanos(grace);
        Running stopping;
        synchronized (monitor) {
            stopping = state == State.RUNNING ? running : null;
            state = stopping != null || state == State.STOPPING ? State.STOPPING : State.STOPPED;
            monitor.notifyAll();
        }
        boolean interrupted = stopping == null ? awaitOtherStop(graceUntil) : stop(stopping, graceUntil);
        if (stopping != null) {
            moveTo(State.STOPPED);
            LOG.info("Worker stopped (worker={})", id);
            ground.events().tell(new WorkerStopped(id));
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Another thread stops it already: a shutdown hook, say, that must not let the JVM end before that is done. */
    private boolean awaitOtherStop(long graceUntil) {
        try {
            await(() -> state == State.STOPPED, graceUntil + 3 * LAST_WRITES);
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    /** True if the thread was interrupted meanwhile: then the grace period is over. */
    private boolean stop(Running stopping, long graceUntil) {
        boolean interrupted = false;
        Engine engine = stopping.engine();
        engine.claimer.end();
        stopping.claimer().stop();
        stopping.scheduler().stop();
        try {
            stopping.claimer().join(TimeUnit.NANOSECONDS.toMillis(LAST_WRITES));
            engine.handBackWaiting();
            await(() -> engine.running() == 0, graceUntil);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        engine.handBackWaiting();
        engine.handBackRunning();
        try {
            await(engine.completer::isIdle, System.nanoTime() + LAST_WRITES);
            for (Loop loop : stopping.loops()) {
                loop.stop();
            }
            long until = System.nanoTime() + LAST_WRITES;
            for (Loop loop : stopping.loops()) {
                loop.join(TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime()));
            }
        } catch (InterruptedException e) {
            interrupted = true;
            stopping.loops().forEach(Loop::stop);
        }
        engine.freeLimits();
        extensions.stop();
        engine.close();
        if (stopping.own() != null) {
            stopping.own().shutdown();
        }
        return interrupted;
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds();
    }

    private void await(Condition condition, long until) throws InterruptedException {
        synchronized (monitor) {
            while (!condition.holds() && System.nanoTime() - until < 0) {
                TimeUnit.MILLISECONDS.timedWait(monitor, 10);
            }
        }
    }

    private static long nanos(Duration grace) {
        return grace.compareTo(Duration.ofDays(365)) > 0 ? Duration.ofDays(365).toNanos() : grace.toNanos();
    }

    private void moveTo(State next) {
        synchronized (monitor) {
            state = next;
            monitor.notifyAll();
        }
    }

    @Override
    public WorkerHealth health() {
        State now;
        synchronized (monitor) {
            now = state;
        }
        Running current = running;
        if (current == null || now == State.STOPPED) {
            return new WorkerHealth(now, null, 0, 0, List.of());
        }
        long answeredAt = current.engine().claimer.answeredAt();
        Duration since =
                answeredAt == Long.MAX_VALUE ? null : Duration.ofNanos(Math.max(0, System.nanoTime() - answeredAt));
        return new WorkerHealth(
                now,
                since,
                current.engine().running(),
                current.engine().completer.backlog(),
                current.loops().stream()
                        .flatMap(loop -> loop.failing().stream())
                        .toList());
    }
}
