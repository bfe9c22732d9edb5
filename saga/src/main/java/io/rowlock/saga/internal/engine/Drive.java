package io.rowlock.saga.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.engine.Recording.Result;
import io.rowlock.saga.internal.sql.StepRow;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/*
 * A drive is one claim of a driver job. It walks its saga until that has ended, waits, or needs a person:
 *
 *   read the saga -> what is next? -> change the instance in memory        (choices, waits that begin or end, joins)
 *                                  -> record, then call, then go on        (attempts of steps and of compensations)
 *                                  -> record, and put the driver back      (a retry, a signal, time)
 *                                  -> record, and end the driver           (finished, or a person is needed)
 *
 * What is changed in memory is recorded with whatever comes next, so that the end of one step and the start of the next
 * are one transaction. A record is fenced by the lease, and looks under the saga's lock for what others want of it: a
 * cancel, a deadline, a signal. If there is something, nothing new begins, and the saga is read again.
 */

/** Moves one saga as far as it goes on one claim of its driver. For one thread, but for the end of an attempt that takes too long. */
final class Drive<S> {
    private static final int MOST_MOVES = 100_000;
    private static final Duration LOOK_AGAIN = Duration.ofDays(1);

    private final Parts parts;
    private final Hold hold;
    private final Instance<S> saga;
    private final Recording<S> recording;
    private final Verdict<S> verdict;
    private final Waits<S> waits;
    private final Calls<S> calls;
    private final Crew<S> crew;

    Drive(Parts parts, Hold hold, Instance<S> saga) {
        this.parts = parts;
        this.hold = hold;
        this.saga = saga;
        this.recording = new Recording<>(parts, hold, saga);
        this.verdict = new Verdict<>(saga);
        this.waits = new Waits<>(parts, saga, recording, verdict);
        this.calls = new Calls<>(parts, hold, saga, recording, verdict);
        this.crew = new Crew<>(parts, calls, recording, saga);
    }

    /** How a drive goes on. */
    enum Next {
        /** With what is next. */
        ON,
        /** With the saga as its rows say now. */
        READ_AGAIN,
        /** Not at all. */
        OVER
    }

    /** True if the saga is to be read again. */
    boolean run() throws Exception {
        try {
            verdict.turnIfFailed();
            for (int i = 0; i < MOST_MOVES; i++) {
                Next next = hold.takenAway() ? Next.OVER : move();
                if (next == Next.READ_AGAIN) {
                    return landed();
                } else if (next == Next.OVER) {
                    return false;
                }
            }
            return landed() && putBack() == Next.READ_AGAIN;
        } finally {
            crew.abandon();
        }
    }

    /** Waits for what runs beside; false if the lease is lost meanwhile. */
    private boolean landed() throws Exception {
        while (crew.isFlying()) {
            if (hold.takenAway() || crew.awaitOne() == Result.LOST) {
                return false;
            }
        }
        return true;
    }

    private Next move() throws Exception {
        heed();
        if (saga.status() == SagaStatus.RUNNING) {
            return forward();
        } else if (crew.isFlying()) {
            return beside(crew.awaitOne());
        } else if (saga.status() == SagaStatus.COMPENSATING) {
            return go(Backward.find(saga));
        } else if (saga.status() == SagaStatus.STUCK) {
            verdict.standAtFailed();
        }
        return after(recording.end());
    }

    /** Steps of branches run beside each other, all else on this thread. */
    private Next forward() throws Exception {
        Forward.Result<S> found = Forward.find(saga, crew.busy());
        if (hold.stopping() && !found.ready().isEmpty()) {
            return crew.isFlying() ? beside(crew.awaitOne()) : putBack();
        }
        List<Found.Ready<S>> together = new ArrayList<>();
        for (Found.Ready<S> ready : found.ready()) {
            if (!Crew.takes(ready)) {
                return begin(ready.node(), ready.scope());
            }
            together.add(ready);
        }
        if (!together.isEmpty()) {
            return beside(crew.start(together, gives()));
        } else if (crew.isFlying()) {
            return beside(crew.awaitOne(found.otherwise()));
        }
        return go(found.otherwise());
    }

    private Next putBack() throws SQLException {
        return after(recording.putBack(null, false, Set.of()));
    }

    private static Next beside(Result result) {
        return switch (result) {
            case RECORDED -> Next.ON;
            case REDUCED -> Next.READ_AGAIN;
            case LOST -> Next.OVER;
        };
    }

    /** A cancel that was asked for, and a deadline: before the pivot they turn the saga around. */
    private void heed() {
        boolean turns = gives();
        String cancel = saga.cancel();
        if (turns && cancel != null) {
            saga.status(SagaStatus.COMPENSATING, "cancelled: " + cancel);
        } else if (saga.lateUntold()) {
            saga.told();
            if (turns) {
                saga.status(SagaStatus.COMPENSATING, "its deadline is over");
            } else {
                recording.beside(parts.relations().alert(AlertCause.SAGA_LATE, saga, "its deadline is over"));
            }
        }
    }

    /** Whether a cancel or a deadline would turn it around. */
    private boolean gives() {
        return saga.status() == SagaStatus.RUNNING && !saga.pivoted();
    }

    private Next go(Found<S> found) throws Exception {
        if (found instanceof Found.Ready<S> ready) {
            return hold.stopping() ? putBack() : begin(ready.node(), ready.scope());
        }
        if (found instanceof Found.Waits<S> nothing) {
            Result result = recording.putBack(until(nothing.until()), gives(), nothing.signals());
            if (result == Result.RECORDED && waits.hasBegunToAwait()) {
                parts.relations().hurrySignals(saga);
            }
            return after(result);
        }
        if (saga.status() == SagaStatus.RUNNING) {
            return after(recording.complete(gives()));
        }
        saga.status(SagaStatus.COMPENSATED, Verdict.whyItTurned(saga.progress().reason()));
        return Next.ON;
    }

    /** A driver without anything to wait for looks again once a day, all the same. */
    private Instant until(@Nullable Instant due) {
        Instant until = due == null ? saga.in(LOOK_AGAIN) : due;
        Instant deadline = saga.deadline();
        return deadline != null && deadline.isBefore(until) && saga.status() == SagaStatus.RUNNING ? deadline : until;
    }

    private Next begin(SagaNode<S> node, Scope scope) throws Exception {
        if (saga.status() == SagaStatus.COMPENSATING) {
            StepRow row = saga.step(node.name());
            return row != null && waits.endsChild(node, scope, row) ? Next.ON : calls.undo(node, scope);
        }
        return node instanceof SagaNode.Step<S> step ? calls.make(step, scope, gives()) : waits.move(node, scope);
    }

    static Next after(Result result) {
        return result == Result.REDUCED ? Next.READ_AGAIN : Next.OVER;
    }
}
