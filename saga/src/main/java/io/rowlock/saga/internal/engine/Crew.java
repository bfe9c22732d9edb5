package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.LogContext;
import io.rowlock.internal.outbox.CurrentJob;
import io.rowlock.saga.SagaNode.Step;
import io.rowlock.saga.StepWork;
import io.rowlock.saga.internal.engine.Recording.Result;
import io.rowlock.saga.internal.sql.StepRow;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Runs steps of branches beside each other. The driver's thread starts them, takes their answers one at a time, and records
 * them. One that took too long is given up: what its thread brings counts for nothing. For the driver's thread.
 */
final class Crew<S> {
    private static final long LONGEST_WAIT = TimeUnit.SECONDS.toNanos(1);

    private final ExecutorService threads;
    private final Relations relations;
    private final Calls<S> calls;
    private final Recording<S> recording;
    private final Instance<S> saga;
    private final Map<String, Flight<S>> flying = new HashMap<>();
    private final BlockingQueue<Flight<S>> landed = new LinkedBlockingQueue<>();
    private long heardAt = System.nanoTime();

    Crew(Parts parts, Calls<S> calls, Recording<S> recording, Instance<S> saga) {
        this.threads = parts.crew();
        this.relations = parts.relations();
        this.calls = calls;
        this.recording = recording;
        this.saga = saga;
    }

    /** Whether a node is for a crew: a step of a branch that calls the outside. */
    static <S> boolean takes(Found.Ready<S> ready) {
        return ready.scope().branch() != null
                && ready.node() instanceof Step<S> step
                && step.work() instanceof StepWork.Called<S>;
    }

    boolean isFlying() {
        return !flying.isEmpty();
    }

    /** Steps that are not to be started. */
    Set<String> busy() {
        return Set.copyOf(flying.keySet());
    }

    /** Records the starts of all, and starts them. Those that have no attempt left fail, and nothing of them is started. */
    Result start(List<Found.Ready<S>> ready, boolean gives) throws SQLException {
        List<StepRow> rows = new ArrayList<>();
        List<Found.Ready<S>> steps = new ArrayList<>();
        for (Found.Ready<S> each : ready) {
            StepRow row = calls.prepare((Step<S>) each.node());
            if (row != null) {
                rows.add(row);
                steps.add(each);
            }
        }
        if (rows.size() < ready.size()) {
            calls.unprepare(rows);
            return Result.RECORDED; // one has failed for good: nothing new begins
        }
        Result result = recording.start(rows, false, gives);
        for (int i = 0; result == Result.RECORDED && i < rows.size(); i++) {
            launch(steps.get(i), rows.get(i));
        }
        return result;
    }

    private void launch(Found.Ready<S> ready, StepRow row) {
        Step<S> step = (Step<S>) ready.node();
        Flight<S> flight = calls.flight(step, (StepWork.Called<S>) step.work(), ready.scope(), row);
        flight.landsIn(landed);
        flying.put(step.name(), flight);
        threads.execute(LogContext.carriedBy(CurrentJob.carriedBy(flight)));
    }

    /** The same, and no longer than until other branches have something to do: at their times, and about a second after a signal. */
    Result awaitOne(Found<S> others) throws SQLException, InterruptedException {
        Instant until = others instanceof Found.Waits<S> waits ? waits.until() : null;
        long due = until == null
                ? LONGEST_WAIT
                : Math.max(0, Duration.between(saga.now(), until).toNanos());
        Result result = awaitOne(Math.min(due, LONGEST_WAIT));
        if (others instanceof Found.Waits<S> waits
                && !waits.signals().isEmpty()
                && System.nanoTime() - heardAt > LONGEST_WAIT) {
            heardAt = System.nanoTime();
            relations.hear(saga);
        }
        return result;
    }

    /** Waits for an answer, or until the time of one is over, and records it. */
    Result awaitOne() throws SQLException, InterruptedException {
        return awaitOne(LONGEST_WAIT);
    }

    private Result awaitOne(long longest) throws SQLException, InterruptedException {
        long wait = flying.values().stream().mapToLong(Flight::left).min().orElse(0);
        Flight<S> first = landed.poll(Math.max(0, Math.min(wait, longest)), TimeUnit.NANOSECONDS);
        boolean changed = first != null && end(first);
        for (Flight<S> each : List.copyOf(flying.values())) {
            if (each.left() <= 0 && each.giveUp()) {
                flying.remove(each.name());
                changed = true;
            }
        }
        return changed ? recording.goOn() : Result.RECORDED;
    }

    private boolean end(Flight<S> flight) {
        if (flying.remove(flight.name(), flight)) {
            flight.end();
            return true;
        }
        return false; // given up before
    }

    /** Tells all to stop; what they bring counts for nothing. */
    void abandon() {
        flying.values().forEach(Flight::interrupt);
    }
}
