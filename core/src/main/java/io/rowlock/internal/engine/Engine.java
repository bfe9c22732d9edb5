package io.rowlock.internal.engine;

import io.rowlock.internal.alert.Watchers;
import io.rowlock.internal.engine.Claimer.Tools;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.job.Enqueued;
import io.rowlock.spi.Waker;
import io.rowlock.worker.WorkerSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of one worker, put together: how a job goes from the claimer over a runner to the completer can be read
 * here. Has no thread of its own; {@link ThreadedWorker} drives it by loops, {@link CrankedEngine} by hand.
 */
final class Engine {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    private static final Duration OFTEN = Duration.ofSeconds(1);
    private static final Duration LEAST_ANSWER = Duration.ofSeconds(5);
    private static final int LAST_TRIES = 40;
    private static final long LOCKED_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    final Lanes lanes;
    final Lanes keyedLanes;
    final InFlight inFlight = new InFlight();
    final Claimer claimer;
    final Completer completer;
    final Heartbeat heartbeat;
    final Pruner pruner;
    final Scheduler scheduler;
    final Alerter alerter;
    final Attempts attempts;
    private final KeyRetaker retaker;
    private final HoldLifter holds;
    private final LoopAlarm loops;
    final CancelRequests cancelRequests;
    final Slots slots;
    private final Limits limits;
    private final QueueGate gate;
    private final boolean seldom;
    private final Runnable worthClaiming;
    private final Runnable dueElsewhere;

    private final Map<String, QueueRunner> runners = new HashMap<>();
    private final EngineConnection claiming;
    private final EngineConnection completing;
    private final EngineConnection beating;
    private final @Nullable Listener listener;

    /**
     * Puts the parts together.
     *
     * @param executor runs the handlers
     * @param worthClaiming called when a handler has ended, or a job is due again soon, and a claim may be worth while
     */
    Engine(Ground ground, WorkerSettings settings, Identity identity, Executor executor, Runnable worthClaiming) {
        EngineSql sql = EngineSql.of(ground.names());
        Duration lease = settings.timing().lease();
        Events events = Extensions.hear(ground.events(), settings.extensions());
        this.worthClaiming = worthClaiming;
        this.dueElsewhere = ground.dueElsewhere();
        slots = new Slots(settings.queues());
        claiming = connection(ground, lease);
        completing = connection(ground, lease);
        beating = connection(ground, lease);
        lanes = new Lanes(settings.queues().keySet(), settings.handlers());
        keyedLanes = new Lanes(settings.queues().keySet(), settings.handlers());
        Deaths deaths = new Deaths(sql, lanes, events);
        retaker = new KeyRetaker(completing, sql, events);
        holds = new HoldLifter(completing, sql, this::lifted);
        loops = new LoopAlarm(completing, sql.alerts(), events);
        Rescuer rescuer = new Rescuer(claiming, sql, lanes, deaths, new Rescuer.Told(events, retaker::add));
        Claimant claimant = new Claimant(identity.owner(), lease);
        seldom = settings.timing().poll().compareTo(OFTEN) > 0;
        limits = new Limits(claiming, sql, claimant, lanes, seldom);
        gate = new QueueGate(
                claiming,
                sql,
                claimant,
                new QueueGate.Work(lanes, keyedLanes, slots, runners),
                limits,
                settings.timing().poll());
        Capacity capacity = new Capacity(slots, limits, gate);
        claimer = new Claimer(
                new Tools(
                        claiming,
                        sql.claims(),
                        claimant,
                        new Sweeps(
                                new Sweeper(claiming, sql.sweeps(), lanes, rescuer),
                                new KeyedSweeper(claiming, sql, keyedLanes, rescuer),
                                settings.timing().poll()),
                        new LimitSweeper(claiming, sql, limits, settings.queues()),
                        new KeyedClaimer(claiming, sql, claimant, keyedLanes, capacity),
                        capacity,
                        new QuietLook(claiming, sql.due(), lanes),
                        run -> handBackAtOnce(recorder(claiming, sql, identity, deaths, events, () -> {}), run)),
                lanes,
                settings.timing().poll(),
                this::taken);
        completer = new Completer(
                recorder(completing, sql, identity, deaths, events, worthClaiming), retaker, holds, loops);
        heartbeat = new Heartbeat(
                beating,
                sql.outcomes(),
                inFlight,
                limits,
                job -> letGo(job, worthClaiming),
                events,
                identity.owner(),
                lease);
        cancelRequests = new CancelRequests(beating, sql, inFlight, events, this::lifted);
        Notifier notifier = ground.notifier();
        listener = notifier == null ? null : new Listener(beating, notifier, identity.owner(), events, this::told);
        pruner = new Pruner(claiming, sql.prunes(), lanes.kinds(), settings.retention());
        scheduler = new Scheduler(claiming, ground.names(), sql.alerts(), events, waker(ground));
        Watchers.Worker self = new Watchers.Worker(identity.owner(), settings.name(), lanes.queues(), lanes.kinds());
        alerter = new Alerter(claiming, ground, self, events, waker(ground));
        Handlers handlers = new Handlers(ground, sql, JdbcTransactions.remembering(ground.connections()), identity);
        attempts = new Attempts(handlers, completer, slots, lease, events, this::ended);
        settings.queues().forEach((queue, most) -> runners.put(queue, new QueueRunner(most, executor, attempts::run)));
    }

    /** Hears of jobs that this worker wrote and committed. */
    private Waker waker(Ground ground) {
        return jobs -> {
            committed(jobs);
            ground.wake().wake(jobs);
        };
    }

    /** A step for the pruner's thread: what it throws keeps neither alerts nor extensions from their turn. */
    long prune(Extensions extensions) throws SQLException {
        long pause = 0;
        long further = 0;
        try {
            pause = pruner.step();
        } finally {
            further = Math.min(alerter.step(), extensions.keepHouse(claiming));
        }
        return Math.min(pause, further);
    }

    private static EngineConnection connection(Ground ground, Duration lease) {
        Duration quarter = lease.dividedBy(4);
        return new EngineConnection(ground.connections(), quarter.compareTo(LEAST_ANSWER) > 0 ? quarter : LEAST_ANSWER);
    }

    private Recorder recorder(
            EngineConnection connection,
            EngineSql sql,
            Identity identity,
            Deaths deaths,
            Events events,
            Runnable worthClaiming) {
        OutcomeWriter writer = new OutcomeWriter(sql.outcomes(), identity.owner(), identity.deleteCompleted());
        return new Recorder(
                connection,
                writer,
                new KeyedRecorder(connection, sql.keys(), writer, deaths, identity.lease()),
                deaths,
                new Aftermath(
                        events,
                        identity.owner(),
                        job -> letGo(job, worthClaiming),
                        retaker::add,
                        delay -> dueAgain(delay, worthClaiming)));
    }

    /** By the claimer's own thread and connection, as the completer may have ended by then. */
    private static void handBackAtOnce(Recorder recorder, Run run) throws SQLException {
        List<Settled> back = new ArrayList<>();
        for (LeasedJob job : run.takeRest()) {
            if (job.settle()) {
                back.add(new Settled(job, new Outcome.PutBack(Duration.ZERO, false)));
            }
        }
        for (int i = 0; i < LAST_TRIES && !back.isEmpty(); i++) {
            back = recorder.record(back); // those whose rows somebody has locked for a moment
            if (!back.isEmpty()) {
                LockSupport.parkNanos(LOCKED_PAUSE);
            }
        }
    }

    /** A run's thread has ended, or it was handed back before it began. */
    private void ended(Run run) {
        holds.ended(run);
        gate.ended(run);
        boolean freesLimit = limits.ended(run) || (seldom && limits.isSpare(run));
        if (freesLimit) {
            claimer.keyedDue();
        }
        if (slots.release(run) || freesLimit) {
            worthClaiming.run();
        }
    }

    /** The next jobs of ordering keys may begin. */
    private void lifted() {
        claimer.keyedDue();
        worthClaiming.run();
    }

    /** Settings of queues may have changed. */
    void settingsChanged() {
        gate.refreshSoon();
        claimer.limitsChanged();
    }

    /** Frees the slots of limits while nothing runs; the next step may take some again. */
    void freeUnusedLimits() throws SQLException {
        limits.step(true);
        gate.giveAllBack();
    }

    /** Frees the slots of limits, as the last thing before the end; what cannot be freed is free when its time is over. */
    void freeLimits() {
        try {
            boolean promoted = false;
            for (int i = 0; i < LAST_TRIES && limits.hasSpare(); i++) {
                promoted |= !limits.step(true).isEmpty();
            }
            gate.giveAllBack();
            limits.leave();
            if (promoted) {
                dueElsewhere.run();
            }
        } catch (SQLException e) {
            LOG.info("Slots of limits could not be freed at the end; others can take them when their time is over", e);
        }
    }

    /** Its lease is over; with an ordering key the next of its key may follow. */
    private void letGo(LeasedJob job, Runnable worthClaiming) {
        holds.letGo(job);
        if (!inFlight.letGo(job)) {
            return;
        }
        if (job.suspect()) {
            slots.suspectGone();
        }
        if (job.row().key() != null) {
            claimer.keyedDue();
        }
        if (job.row().key() != null || job.suspect()) {
            worthClaiming.run();
        }
    }

    /** Jobs have committed in this JVM. */
    void committed(Collection<Enqueued> jobs) {
        Map<Boolean, List<Enqueued>> byKeyed = jobs.stream().collect(Collectors.partitioningBy(Enqueued::keyed));
        lanes.lower(byKeyed.getOrDefault(false, List.of()));
        List<Enqueued> keyed = byKeyed.getOrDefault(true, List.of());
        if (!keyed.isEmpty()) {
            keyedLanes.lower(keyed);
            claimer.keyedDue();
        }
    }

    /** Jobs have committed in another process. What is none of this worker's lanes does not wake it (promise P12). */
    void told(Note note) {
        List<Enqueued> own = note.earliest().stream()
                .filter(job -> lanes.binding(job.queue(), job.kind()) != null)
                .toList();
        committed(own);
        if (note.everywhere()) {
            lookEverywhere(note.since());
        }
        if (note.everywhere() || !own.isEmpty()) {
            dueAgain(Duration.ZERO, worthClaiming);
        }
    }

    private void lookEverywhere(@Nullable Instant since) {
        if (since != null) {
            lanes.all().forEach(lane -> lanes.lower(lane.key(), since));
            keyedLanes.all().forEach(lane -> keyedLanes.lower(lane.key(), since));
        }
        claimer.keyedDue();
    }

    private void dueAgain(Duration delay, Runnable worthClaiming) {
        if (claimer.dueAgain(delay)) {
            worthClaiming.run();
        }
    }

    /** All are kept up from the first on, as the executor may take its time with each. */
    private void taken(List<Run> runs) {
        runs.forEach(run -> run.jobs().forEach(inFlight::add));
        runs.forEach(run -> run.jobs().forEach(loops::look));
        RejectedExecutionException refused = null;
        for (Run run : runs) {
            try {
                runner(run.first()).add(run);
            } catch (RuntimeException | Error rejected) { // an Error when no thread can be had
                attempts.handBack(run);
                refused = refused(run.first(), rejected);
            }
        }
        if (refused != null) {
            throw refused;
        }
    }

    private static RejectedExecutionException refused(LeasedJob job, Throwable rejected) {
        return new RejectedExecutionException(
                "The executor refused a job; it is handed back, and claiming pauses (job=" + job.id() + ", kind="
                        + job.kind() + "): " + Described.text(rejected),
                rejected);
    }

    private QueueRunner runner(LeasedJob job) {
        QueueRunner runner = runners.get(job.row().lane().queue());
        if (runner == null) {
            throw new IllegalStateException(
                    "No runner for queue " + job.row().lane().queue());
        }
        return runner;
    }

    /** How many handlers run. */
    int running() {
        return runners.values().stream().mapToInt(QueueRunner::running).sum();
    }

    /** Hands back what was claimed and has not begun. */
    void handBackWaiting() {
        attempts.endRuns();
        handBackWaiting(job -> true);
    }

    private void handBackWaiting(Predicate<LeasedJob> first) {
        runners.values().forEach(runner -> runner.takeWaiting(first).forEach(attempts::handBack));
    }

    /** A step for the heartbeat's thread: a beat when it is time, and, with notifications, listening until the next. */
    long beatAndListen() throws SQLException {
        return listener == null ? beat() : listener.between(this::beat);
    }

    /**
     * One beat. What was claimed ahead and has waited for a third of its lease is handed back, so that it does not stand
     * behind slow handlers here while another worker is free.
     */
    private long beat() throws SQLException {
        handBackWaiting(heartbeat::old);
        long pause = heartbeat.step();
        return Math.min(pause, cancelRequests.step());
    }

    /** Tells the handler of a job that was cancelled; its outcome counts for nothing. */
    void cancelled(long id) {
        for (LeasedJob job : inFlight.all()) {
            if (job.id() == id && job.settle()) {
                job.taken();
                letGo(job, worthClaiming);
                job.cancel();
            }
        }
    }

    /** Interrupts what still runs, and hands it back. */
    void handBackRunning() {
        for (LeasedJob job : inFlight.all()) {
            if (attempts.handBack(job)) {
                LOG.info(
                        "A handler did not end within the grace period; its job is handed back (job={}, kind={})",
                        job.id(),
                        job.kind());
            }
        }
    }

    void close() {
        attempts.stop();
        claiming.close();
        completing.close();
        beating.close();
    }
}
