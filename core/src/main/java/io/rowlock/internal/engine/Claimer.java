package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Planner.Plan;
import io.rowlock.internal.engine.Sweeper.Found;
import io.rowlock.internal.sql.ClaimSql;
import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.Claimed;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.FoundRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Claims as many due jobs as there are free slots, and has the sweeper look, by time, for what claims do not find.
 */
final class Claimer {
    /** A sweep may take at most one part in so many of the time. */
    private static final int SWEEP_SHARE = 20;

    /** What a sweep found, the lanes, and jobs with ordering keys go first in turn, so that none keeps the others from the slots. */
    private static final int WAYS = 3;

    private static final Duration OFTEN = Duration.ofSeconds(1);

    private static final long NEVER = Long.MAX_VALUE;
    private static final long SHORTEST_BUSY = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int BUSY_TRIES = 400;
    private static final long LONGEST_BUSY = TimeUnit.SECONDS.toNanos(1);

    private final EngineConnection connection;
    private final ClaimSql sql;
    private final Claimant claimant;
    private final Lanes lanes;
    private final Slots slots;
    private final Planner planner;
    private final FoundChoice foundChoice;
    private final Sweeps sweeps;
    private final LimitSweeper limitSweeper;
    private final KeyedClaimer keyed;
    private final Limits limits;
    private final QueueGate gate;
    private final HandBack tooLate;
    private final Consumer<List<Run>> taken;
    private final Duration poll;
    private final LookBacks lookBacks = new LookBacks();
    private final QuietLook quietLook;

    private volatile boolean ended;
    private volatile boolean limitsChanged;
    private int turn = -1;
    private boolean keyedLeft;
    private long nextSweep = System.nanoTime();
    private long keyedAt = NEVER;
    private long busyPause = SHORTEST_BUSY;
    private final AtomicLong dueAgain = new AtomicLong(NEVER);
    private volatile boolean moreDue;
    private volatile long answeredAt = NEVER;

    /** What a claimer works with, beside its lanes. */
    record Tools(
            EngineConnection connection,
            ClaimSql sql,
            Claimant claimant,
            Sweeps sweeps,
            LimitSweeper limitSweeper,
            KeyedClaimer keyed,
            Capacity capacity,
            QuietLook quietLook,
            HandBack tooLate) {}

    /** @param taken gets what a claim took; must not block for long; may refuse a run, having handed it back, and throws then, so
     *     that claiming pauses, and health tells why */
    Claimer(Tools tools, Lanes lanes, Duration poll, Consumer<List<Run>> taken) {
        this.connection = tools.connection();
        this.sql = tools.sql();
        this.claimant = tools.claimant();
        this.sweeps = tools.sweeps();
        this.limitSweeper = tools.limitSweeper();
        this.keyed = tools.keyed();
        this.limits = tools.capacity().limits();
        this.gate = tools.capacity().gate();
        this.slots = tools.capacity().slots();
        this.quietLook = tools.quietLook();
        this.tooLate = tools.tooLate();
        this.lanes = lanes;
        this.planner = new Planner(lanes, slots);
        this.foundChoice = new FoundChoice(slots);
        this.poll = poll;
        this.taken = taken;
    }

    /** Hands back a run that was claimed too late. */
    @FunctionalInterface
    interface HandBack {
        void handBack(Run run) throws SQLException;
    }

    /** Whether the last claim left due jobs behind for want of slots: then a freed slot is worth waking up for. */
    boolean moreDue() {
        return moreDue;
    }

    /** nanoTime of the last answer of the database, or Long.MAX_VALUE. */
    long answeredAt() {
        return answeredAt;
    }

    /** A job that this worker put back is due again after the delay; true if that is before the next poll. */
    boolean dueAgain(Duration delay) {
        if (delay.compareTo(poll) > 0) {
            return false;
        }
        long at = System.nanoTime() + delay.toNanos();
        dueAgain.accumulateAndGet(at, (before, after) -> before == NEVER || after - before < 0 ? after : before);
        moreDue = true;
        return true;
    }

    /** One round: sweep if due, claim, and say how long to wait unless woken. Where nothing at all is due, one look is all of it. */
    long step() throws SQLException {
        long now = System.nanoTime();
        dueAgain.updateAndGet(at -> at != NEVER && at - now <= 0 ? NEVER : at);
        boolean quiet = false;
        if (now - nextSweep >= 0) {
            quiet = isQuiet();
            sweep(quiet);
        }
        makeRoom(now);
        if (quiet && !keyed.isTold()) {
            return pause();
        }
        moreDue = true; // before looking for free slots, so that one freed from now on wakes this loop
        if (gate.free().isEmpty()) {
            return pause();
        }
        boolean keyedMore = false;
        Taken took = Taken.HELD_BACK;
        turn = (turn + 1) % WAYS;
        for (int i = 0; i < WAYS; i++) {
            Map<String, Integer> free = gate.free();
            switch ((turn + i) % WAYS) {
                case 0 -> claimFound();
                case 1 -> took = free.isEmpty() ? Taken.HELD_BACK : claimDue(free);
                default -> keyedMore = claimKeyed(free, false);
            }
        }
        moreDue = took != Taken.ALL_DUE || sweeps.hasFound() || keyedLeft;
        return keyedMore || took == Taken.ALL_IT_COULD ? 0 : Math.min(pause(), lookBacks.pause(System.nanoTime()));
    }

    /** Whether nothing is due in any lane, where that is likely; what may have been told meanwhile comes with a wake-up. */
    private boolean isQuiet() throws SQLException {
        if (keyed.isTold() || limitsChanged || !slots.allFree() || !quietLook.isLikely()) {
            return false;
        }
        long askedAt = System.nanoTime();
        nextSweep = askedAt + poll.toNanos(); // also when this one fails, as for a sweep
        if (!quietLook.isQuiet()) {
            return false;
        }
        answeredAt = System.nanoTime();
        lookBacks.done(answeredAt - askedAt);
        keyed.looked(poll.toNanos());
        return true;
    }

    /** Claims runs of jobs with ordering keys if there may be some; true if more may be taken at once. */
    private boolean claimKeyed(Map<String, Integer> free, boolean oneJob) throws SQLException {
        if (free.isEmpty() || !(keyed.isAsked() || keyedLeft)) {
            return false;
        }
        KeyedClaimer.Round round = keyed.step(free, poll.toNanos(), oneJob);
        keyedLeft = round.left();
        keyedAgain(round.busy(), busyPause);
        keyedAgain(round.again() != NEVER, round.again());
        busyPause = round.busy() ? Math.min(LONGEST_BUSY, busyPause * 2) : SHORTEST_BUSY;
        answeredAt = System.nanoTime();
        dispatch(round.runs());
        return round.more();
    }

    /** A job with an ordering key was committed, or ended here and another may follow. */
    void keyedDue() {
        keyed.ask();
        moreDue = true;
    }

    /** Limits may have changed here: what they parked may have room now, however far the next poll is. */
    void limitsChanged() {
        limitsChanged = true;
        keyedDue();
    }

    /** Frees slots of limits, promotes, and takes slots and tokens of queues. */
    private void makeRoom(long now) throws SQLException {
        if (keyedAt != NEVER && now - keyedAt >= 0) {
            keyedAt = NEVER;
            keyed.ask();
        }
        keyedDue(limits.step(false));
        keyedDue(limitSweeper.stepWindows());
        gate.step();
        if (limitsChanged) {
            limitsChanged = false;
            keyedDue(limitSweeper.step());
        }
    }

    /** Has jobs with keys looked for at once where some are due, and again when the next of them are. */
    private void keyedDue(List<Duration> dueIn) {
        for (Duration each : dueIn) {
            if (each.isZero()) {
                keyed.ask();
            } else {
                keyedAgain(true, each.toNanos());
            }
        }
    }

    /** Has jobs with keys looked for again after so long. */
    private void keyedAgain(boolean so, long nanos) {
        long at = System.nanoTime() + nanos;
        if (so && (keyedAt == NEVER || at - keyedAt < 0)) {
            keyedAt = at;
        }
    }

    private long pause() {
        long now = System.nanoTime();
        long until = Math.min(poll.toNanos(), Math.max(0, nextSweep - now));
        until = Math.min(until, Math.min(gate.pause(now), limits.pause(now)));
        until = keyedAt == NEVER ? until : Math.min(until, Math.max(0, keyedAt - now));
        long again = dueAgain.get();
        return Math.max(TimeUnit.MILLISECONDS.toNanos(1), again == NEVER ? until : Math.min(until, again - now));
    }

    /** @param quiet whether no lane has a due row */
    private void sweep(boolean quiet) throws SQLException {
        long startedAt = System.nanoTime();
        nextSweep = startedAt + poll.toNanos(); // also when this one fails, so that claims have their turn
        boolean refreshes = gate.isStale();
        if (refreshes) {
            gate.refresh(); // where polls are close together in place of a sweep, so that an idle worker asks no more
        }
        if (!refreshes || poll.compareTo(OFTEN) > 0) {
            if (quiet) {
                if (sweeps.stepOverLanes()) {
                    keyed.ask();
                }
            } else {
                sweeps.step();
            }
        }
        keyedDue(limitSweeper.step());
        long took = System.nanoTime() - startedAt;
        nextSweep = System.nanoTime() + Math.max(poll.toNanos(), took * SWEEP_SHARE);
    }

    private void claimFound() throws SQLException {
        List<Found> later = sweeps.takeFound();
        List<Found> now = foundChoice.choose(later, gate.free());
        later.removeAll(now);
        sweeps.putBack(later);
        if (!now.isEmpty()) {
            take(now);
        }
    }

    /** Claims one due job, whichever comes first, for a worker cranked by hand; false if none is due. */
    boolean stepOne() throws SQLException {
        sweeps.all();
        limitSweeper.step();
        makeRoom(System.nanoTime());
        for (int i = 0; i < BUSY_TRIES && gate.isBusy(); i++) {
            LockSupport.parkNanos(SHORTEST_BUSY);
            makeRoom(System.nanoTime());
        }
        for (Found row : sweeps.takeFound()) {
            if (gate.free().containsKey(row.lane().key().queue()) && take(List.of(row)) > 0) {
                return true;
            }
        }
        for (String queue : gate.free().keySet()) {
            keyed.ask();
            if (claimDue(Map.of(queue, 1), true) == Taken.ALL_IT_COULD || claimOneKeyed(queue)) {
                return true;
            }
        }
        return false;
    }

    /** A round may only park what stands before the one that can be taken. */
    private boolean claimOneKeyed(String queue) throws SQLException {
        KeyedClaimer.Round round = keyed.step(Map.of(queue, 1), 0, true);
        for (int i = 0;
                i < BUSY_TRIES && (round.more() || round.busy()) && round.runs().isEmpty();
                i++) {
            if (round.busy()) {
                LockSupport.parkNanos(SHORTEST_BUSY);
            }
            round = keyed.step(Map.of(queue, 1), 0, true);
        }
        dispatch(round.runs());
        return !round.runs().isEmpty();
    }

    /** Makes waiting jobs of these lanes due now; gives how many. */
    int bringForward(int most) throws SQLException {
        return connection.call(open -> sql.bringForward(open, lanes.queues(), lanes.kinds(), most));
    }

    private int take(List<Found> rows) throws SQLException {
        FoundRows found = new FoundRows(
                rows.stream().map(Found::id).toList(),
                rows.stream().filter(Found::suspect).map(Found::id).toList(),
                lanes.queues(),
                lanes.kinds());
        long askedAt = System.nanoTime();
        return dispatch(connection.call(open -> sql.claimFound(open, claimant, found)), askedAt);
    }

    /** How a claim ended: it took all that was due; all it could, so that more may be due; or a limit held it back. */
    private enum Taken {
        ALL_DUE,
        ALL_IT_COULD,
        HELD_BACK
    }

    private Taken claimDue(Map<String, Integer> free) throws SQLException {
        long startedAt = System.nanoTime();
        boolean back = lookBacks.isDue(startedAt);
        Taken took = claimDue(free, back);
        if (back) {
            lookBacks.done(System.nanoTime() - startedAt);
        } else if (took != Taken.ALL_IT_COULD) {
            lookBacks.owe();
        }
        return took;
    }

    private Taken claimDue(Map<String, Integer> free, boolean back) throws SQLException {
        lanes.lookBack(back);
        Plan plan = planner.plan(free);
        int took = claim(plan);
        while (took == 0 && plan.passedOver()) {
            plan = planner.planPassedOver(free);
            took = claim(plan);
        }
        if (took > 0 && (took >= plan.most() || plan.passedOver() || tookAllOfALane(plan, took))) {
            return Taken.ALL_IT_COULD;
        }
        return plan.heldBack() ? Taken.HELD_BACK : Taken.ALL_DUE;
    }

    private static boolean tookAllOfALane(Plan plan, int took) {
        return plan.scans().stream().anyMatch(scan -> scan.most() <= took);
    }

    private int claim(Plan plan) throws SQLException {
        if (plan.shares().isEmpty()) {
            return 0;
        }
        long askedAt = System.nanoTime();
        Claimed claimed = connection.call(open -> sql.claim(open, claimant, plan.free(), plan.shares()));
        planner.answered(plan, claimed);
        return dispatch(claimed, askedAt);
    }

    /** From now on nothing is claimed for this worker any more: what a claim under way still takes goes back at once. */
    void end() {
        ended = true;
    }

    private int dispatch(Claimed claimed, long askedAt) throws SQLException {
        answeredAt = System.nanoTime();
        List<Run> runs = new ArrayList<>(claimed.rows().size());
        for (ClaimedRow row : claimed.rows()) {
            runs.add(new Run(List.of(new LeasedJob(row, lanes.binding(row), askedAt)), null, null));
        }
        dispatch(runs);
        return runs.size();
    }

    private void dispatch(List<Run> runs) throws SQLException {
        if (ended) {
            for (Run run : runs) {
                tooLate.handBack(run);
                limits.handedBack(run);
            }
            return;
        }
        for (Run run : runs) {
            slots.take(run);
            limits.began(run);
            gate.claimed(run);
        }
        taken.accept(runs);
    }
}
