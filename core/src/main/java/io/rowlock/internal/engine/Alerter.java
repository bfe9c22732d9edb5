package io.rowlock.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.alert.AlertLimits;
import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.internal.alert.Teller;
import io.rowlock.internal.alert.Teller.Told;
import io.rowlock.internal.alert.Watchers;
import io.rowlock.job.Enqueued;
import io.rowlock.spi.Waker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has sinks told of alerts, and looks for what else is to be alerted of; one process at a time, each for the length of a
 * transaction. What fails keeps nothing else from its turn. For the pruner's thread.
 */
final class Alerter {
    private static final Logger LOG = LoggerFactory.getLogger(Alerter.class);
    private static final long BETWEEN_TELLS = TimeUnit.SECONDS.toNanos(5);
    private static final long MORE = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long OTHERS_LOOK = TimeUnit.SECONDS.toNanos(1);
    private static final long FIRST_AGAIN = TimeUnit.SECONDS.toNanos(1); // doubled up to the next
    private static final long LATER = TimeUnit.SECONDS.toNanos(30);
    private static final long REGISTERED_FOR = TimeUnit.MINUTES.toNanos(30);
    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(1);
    private static final Duration LEAST_BETWEEN_LOOKS = Duration.ofSeconds(1);

    private final EngineConnection connection;
    private final Teller teller;
    private final Watchers watchers;
    private final String worker;
    private final Events events;
    private final Waker written;
    private final long betweenLooks;
    private final List<Turn> turns = new ArrayList<>();
    private long registeredAt;

    /** @param written hears of the jobs that tell of alerts */
    Alerter(EngineConnection connection, Ground ground, Watchers.Worker worker, Events events, Waker written) {
        this.connection = connection;
        this.teller = new Teller(ground.names(), ground.codec(), ground.alarms().sinks());
        this.watchers = new Watchers(
                ground.names(),
                ground.alarms().limits(),
                worker,
                ground.alarms().clock());
        this.worker = worker.id();
        this.events = events;
        this.written = written;
        this.betweenLooks = between(ground.alarms().limits()).toNanos();
        long now = System.nanoTime();
        this.registeredAt = now - REGISTERED_FOR;
        if (!teller.isMute()) {
            turns.add(new Turn("telling of alerts", now, this::tell));
        }
        if (events.areHeard()) {
            turns.add(new Turn("comparing clocks", now + betweenLooks, this::compareClocks));
        }
        for (AlertCause cause : watchers.causes()) {
            turns.add(new Turn("watch: " + cause.text(), now + betweenLooks, () -> look(cause)));
        }
    }

    /** What is done now and then, and when next. */
    private static final class Turn {
        private final String what;
        private final Loop.Step step;
        private long dueAt;
        private int failures;

        Turn(String what, long dueAt, Loop.Step step) {
            this.what = what;
            this.dueAt = dueAt;
            this.step = step;
        }
    }

    /** Twice within the shortest time after which something is told, else once a minute. How far a clock is off is no such time. */
    private static Duration between(AlertLimits limits) {
        Duration shortest = Stream.of(limits.unknownKind(), limits.queueLag(), limits.snapshotPinned())
                .filter(Objects::nonNull)
                .map(limit -> limit.dividedBy(2))
                .min(Duration::compareTo)
                .orElse(BETWEEN_LOOKS);
        Duration most = shortest.compareTo(BETWEEN_LOOKS) < 0 ? shortest : BETWEEN_LOOKS;
        return most.compareTo(LEAST_BETWEEN_LOOKS) < 0 ? LEAST_BETWEEN_LOOKS : most;
    }

    /** One turn of each that is due; gives for how long to pause. Throws nothing. */
    long step() {
        long now = System.nanoTime();
        long pause = LATER;
        for (Turn each : turns) {
            if (each.dueAt - now <= 0) {
                each.dueAt = now + take(each);
            }
            pause = Math.min(pause, each.dueAt - now);
        }
        return pause;
    }

    private long take(Turn turn) {
        try {
            long pause = turn.step.run();
            turn.failures = 0;
            return pause;
        } catch (Throwable thrown) {
            long pause = Math.min(LATER, FIRST_AGAIN << Math.min(turn.failures, 10));
            turn.failures++;
            Described.quietly(() -> LOG.warn(
                    "Alerts are not complete, tried again in {} s (worker={}, what={}, failures={}): {}",
                    TimeUnit.NANOSECONDS.toSeconds(pause),
                    worker,
                    turn.what,
                    turn.failures,
                    Described.text(thrown)));
            events.tell(new LoopFailed(worker, turn.what, turn.failures, thrown));
            return pause;
        }
    }

    /** For workers cranked by hand: writes the jobs for all that is untold; whether there are any. */
    boolean tellAll() throws SQLException {
        boolean wrote = false;
        boolean more = !teller.isMute();
        while (more) {
            register();
            Told told = connection.inTransaction(teller::tell);
            wrote |= !told.jobs().isEmpty();
            written.wake(told.jobs());
            more = told.more();
        }
        return wrote;
    }

    private long tell() throws SQLException {
        register();
        if (!connection.call(teller::hasNews)) {
            return BETWEEN_TELLS;
        }
        Told told = connection.inTransaction(teller::tell);
        List<Enqueued> jobs = told.jobs();
        if (!jobs.isEmpty()) {
            written.wake(jobs);
        }
        return told.more() ? MORE : BETWEEN_TELLS;
    }

    private void register() throws SQLException {
        long now = System.nanoTime();
        if (now - registeredAt >= REGISTERED_FOR) {
            connection.call(open -> {
                teller.register(open);
                return true;
            });
            registeredAt = now;
        }
    }

    private long look(AlertCause cause) throws SQLException {
        Optional<List<AlertRaised>> raised = connection.inTransaction(open -> watchers.look(open, cause));
        raised.ifPresent(rows -> rows.forEach(this::tellOf));
        return raised.isPresent() ? betweenLooks : OTHERS_LOOK;
    }

    private long compareClocks() throws SQLException {
        events.tell(connection.call(watchers::compared));
        return betweenLooks;
    }

    private void tellOf(AlertRaised alert) {
        LOG.warn("Alert: {} (alert={}, kind={}): {}", alert.cause(), alert.id(), alert.kind(), alert.reason());
        events.tell(alert);
    }
}
