package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Claimer.Tools;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.worker.WorkerSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of one worker, put together: how a job goes from the claimer over a runner to the completer can be read
 * here. Has no thread of its own; {@link ThreadedWorker} drives it by loops, {@link CrankedEngine} by hand.
 */
final class Engine {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    private static final Duration LEAST_ANSWER = Duration.ofSeconds(5);

    final Lanes lanes;
    final InFlight inFlight = new InFlight();
    final Claimer claimer;
    final Completer completer;
    final Heartbeat heartbeat;
    final Pruner pruner;
    final Attempts attempts;

    private final Map<String, QueueRunner> runners = new HashMap<>();
    private final EngineConnection claiming;
    private final EngineConnection completing;
    private final EngineConnection beating;

    /**
     * Puts the parts together.
     *
     * @param executor runs the handlers
     * @param worthClaiming called when a handler has ended, or a job is due again soon, and a claim may be worth while
     */
    Engine(Ground ground, WorkerSettings settings, Identity identity, Executor executor, Runnable worthClaiming) {
        EngineSql sql = EngineSql.of(ground.names());
        Duration lease = settings.timing().lease();
        Events events = ground.events();
        Slots slots = new Slots(settings.queues());
        claiming = connection(ground, lease);
        completing = connection(ground, lease);
        beating = connection(ground, lease);
        lanes = new Lanes(settings.queues().keySet(), settings.handlers());
        Deaths deaths = new Deaths(sql.alerts(), lanes);
        KeyRetaker retaker = new KeyRetaker(completing, sql.retakes(), events);
        Sweeper sweeper = new Sweeper(claiming, sql.sweeps(), lanes, deaths, events, retaker);
        claimer = new Claimer(
                new Tools(claiming, sql.claims(), new Claimant(identity.owner(), lease), sweeper),
                lanes,
                slots,
                settings.timing().poll(),
                this::taken);
        completer = new Completer(
                new Recorder(
                        completing,
                        sql.outcomes(),
                        deaths,
                        events,
                        new Recorder.Setting(
                                identity.owner(),
                                identity.deleteCompleted(),
                                inFlight::letGo,
                                delay -> dueAgain(delay, worthClaiming),
                                retaker::add)),
                retaker);
        heartbeat = new Heartbeat(beating, sql.outcomes(), inFlight, events, identity.owner(), lease);
        pruner = new Pruner(beating, sql.prunes(), kinds(), settings.completedRetention());
        Handlers handlers =
                new Handlers(ground.codec(), sql.oneJob(), new JdbcTransactions(ground.connections()), identity);
        attempts = new Attempts(handlers, completer, slots, events, worthClaiming);
        settings.queues().forEach((queue, most) -> runners.put(queue, new QueueRunner(most, executor, attempts::run)));
    }

    private static EngineConnection connection(Ground ground, Duration lease) {
        Duration quarter = lease.dividedBy(4);
        return new EngineConnection(ground.connections(), quarter.compareTo(LEAST_ANSWER) > 0 ? quarter : LEAST_ANSWER);
    }

    private void dueAgain(Duration delay, Runnable worthClaiming) {
        if (claimer.dueAgain(delay)) {
            worthClaiming.run();
        }
    }

    private Set<String> kinds() {
        Set<String> kinds = new HashSet<>();
        lanes.all().forEach(lane -> kinds.add(lane.key().kind()));
        return kinds;
    }

    private void taken(LeasedJob job) {
        inFlight.add(job);
        try {
            runner(job).add(job);
        } catch (RuntimeException | Error rejected) { // an Error when no thread can be had
            handBackUnrun(job);
            throw new RejectedExecutionException(
                    "The executor refused a job; it is handed back, and claiming pauses (job=" + job.id() + ", kind="
                            + job.kind() + "): " + rejected,
                    rejected);
        }
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
        runners.values().forEach(runner -> runner.takeWaiting().forEach(this::handBackUnrun));
    }

    /**
     * One beat. What was claimed ahead and has waited for a third of its lease is handed back, so that it does not stand
     * behind slow handlers here while another worker is free.
     */
    long beat() throws SQLException {
        for (LeasedJob job : inFlight.all()) {
            if (heartbeat.old(job) && runner(job).takeWaiting(job)) {
                handBackUnrun(job);
            }
        }
        return heartbeat.step();
    }

    /** Interrupts what still runs, and hands it back. */
    void handBackRunning() {
        for (LeasedJob job : inFlight.all()) {
            if (handBack(job)) {
                LOG.info(
                        "A handler did not end within the grace period; its job is handed back (job={}, kind={})",
                        job.id(),
                        job.kind());
            }
        }
    }

    private void handBackUnrun(LeasedJob job) {
        handBack(job);
        attempts.release(job);
    }

    private boolean handBack(LeasedJob job) {
        boolean decided = job.settle();
        if (decided) {
            job.cancel();
            completer.add(job, new Outcome.PutBack(Duration.ZERO, false));
        }
        return decided;
    }

    void close() {
        attempts.stop();
        claiming.close();
        completing.close();
        beating.close();
    }
}
