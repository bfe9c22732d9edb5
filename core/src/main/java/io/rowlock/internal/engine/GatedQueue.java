package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitSql.Others;
import io.rowlock.internal.sql.LimitSql.Room;
import io.rowlock.job.QueueLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What this worker has of one queue's limits: slots it holds, tokens of the window. For the claimer's thread. */
final class GatedQueue {
    private static final long IDLE = TimeUnit.SECONDS.toNanos(1);
    private static final long RETRY = TimeUnit.SECONDS.toNanos(2);
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

    private static final int BLOCK = 8;
    private static final int SHARE_OF_RATE = 50;

    private final String name;
    private final Slots slots;
    private final QueueRunner runner;
    private QueueLimits limits = QueueLimits.none();

    /** As the row says or, while unsettled, no more than it says. */
    private int held;

    private boolean unsettled;
    private boolean waits;
    private int cap = Integer.MAX_VALUE;
    private long awayUntil;
    private int target;
    private int wanted;
    private @Nullable Grant grant;
    private int tokens;
    private long tokensUntil;
    private @Nullable Instant window;
    private @Nullable Instant asked;
    private int returned;
    private boolean spent;
    private long usedAt;
    private boolean asksAgain = true;
    private boolean busy;
    private boolean excess;
    private long slotsAgain;
    private long tokensAgain;
    private long idleSince;
    private boolean idle;
    private long pause = SHORTEST_PAUSE;

    GatedQueue(String name, Slots slots, QueueRunner runner) {
        this.name = name;
        this.slots = slots;
        this.runner = runner;
        this.slotsAgain = System.nanoTime();
        this.tokensAgain = slotsAgain;
    }

    /** What a change gives: slots held from now on (null: none are limited), whether for more is waited, and tokens. */
    record Grant(@Nullable Integer held, boolean waits, int tokens, long tokensUntil) {}

    String name() {
        return name;
    }

    /** Whether nothing limits it, nor is anything held. */
    boolean isOpen() {
        return limits.running() == null && limits.rate() == null && held == 0 && !unsettled && !waits;
    }

    /** Others may have its slots by now: before more is claimed its row is read, and written anew. */
    void lookFirst() {
        if (holdsSlots()) {
            excess = true;
            slots.concurrency(name, 0);
        }
    }

    /** Whether its row could not be had the last time. */
    boolean isBusy() {
        return busy;
    }

    boolean holdsSlots() {
        return held > 0;
    }

    void set(QueueLimits to) {
        if (!Objects.equals(limits.rate(), to.rate())) { // what was taken under another rate counts in the row
            tokens = 0;
            tokensAgain = System.nanoTime();
        }
        limits = to;
        cap = cap == 0 ? 0 : Integer.MAX_VALUE;
        run();
    }

    /** Runs no more handlers than it may. */
    private void run() {
        int most = limits.running() == null ? slots.configured(name) : Math.min(held, target);
        slots.concurrency(name, most);
        runner.concurrency(most);
    }

    /** Others use the limit, too: gives up what is more than its share, or, with less than one each, all for a while. */
    void share(Others others) {
        Integer most = limits.running();
        excess = most != null && others.held() + held > most;
        if (most == null || others.waiting() == 0) {
            return;
        }
        int fair = Math.max(1, (most + others.all()) / (others.all() + 1));
        if (held > fair) {
            cap = fair;
        } else if (most <= others.all()) {
            cap = 0;
        }
    }

    /** Whether it depends on what is due whether it asks for more. */
    boolean wantsMore(long now) {
        boolean waitsToAsk = now - slotsAgain < 0 || now - tokensAgain < 0;
        asksAgain &= waitsToAsk;
        busy &= waitsToAsk;
        if (cap == 0 && held == 0 && now - awayUntil >= 0) {
            cap = Integer.MAX_VALUE;
        }
        boolean wantsSlots = limits.running() != null
                && held < Math.min(slots.configured(name), cap)
                && slots.taken(name) >= held
                && now - slotsAgain >= 0;
        return wantsSlots || (limits.rate() != null && tokens(now) == 0 && now - tokensAgain >= 0);
    }

    /** Decides what to ask for or to give back, with so many jobs due; false if all stays as it is. */
    boolean plan(long now, int due) {
        forgetAnswer();
        int most = Math.min(slots.configured(name), cap);
        int inUse = Math.min(most, slots.taken(name));
        int need = Math.min(most, slots.taken(name) + due);
        target = held;
        if (limits.running() == null) {
            target = 0;
        } else if (need > held && now - slotsAgain >= 0) {
            target = need;
        } else if (held > inUse && isLongIdle(now, most)) {
            target = inUse;
        }
        idle &= held > inUse;
        if (target < held) {
            giveBack();
        }
        if (now - usedAt >= IDLE) {
            giveTokensBack(now);
        }
        wanted = returned == 0 && tokens(now) == 0 && now - tokensAgain >= 0 ? block(due) : 0;
        boolean waitsInVain = waits && need <= held;
        return target > held || unsettled || wanted > 0 || returned > 0 || waitsInVain || excess;
    }

    /** What there was no job for, or none that could run: for other workers. Lost to the window if that fails. */
    private void giveTokensBack(long now) {
        returned = limits.rate() == null ? 0 : tokens(now);
        tokens = 0;
    }

    /** Jobs that were claimed in this window were handed back without having begun. */
    void handedBack(int jobs, Instant claimedIn) {
        long now = System.nanoTime();
        if (claimedIn.equals(window) && now - tokensUntil < 0) {
            tokens += jobs;
            usedAt = now;
        }
    }

    /** One whose transaction failed must not be taken for the next one's. */
    private void forgetAnswer() {
        grant = null;
        returned = 0;
    }

    /** Where much is due, more than that at once; but what is left over at the end of a window is little of its rate. */
    private int block(int due) {
        QueueLimits.Rate rate = limits.rate();
        if (rate == null || due == 0) {
            return 0;
        }
        int now = Math.min(due, Math.max(1, slots.free().getOrDefault(name, 1)));
        return Math.max(now, Math.min(BLOCK * due, rate.jobs() / SHARE_OF_RATE));
    }

    /** Before the row says so, so that no more run than it says. */
    private void giveBack() {
        run();
        int keeps = limits.running() == null ? 0 : Math.max(target, runner.running());
        unsettled |= keeps < held;
        held = Math.min(held, keeps);
    }

    /** Nothing more is to be run; true if slots or tokens are to be given back. */
    boolean stop() {
        forgetAnswer();
        target = 0;
        wanted = 0;
        giveTokensBack(System.nanoTime());
        if (held > 0) {
            giveBack();
        }
        return unsettled || waits || returned > 0;
    }

    private boolean isLongIdle(long now, int most) {
        if (!idle) {
            idle = true;
            idleSince = now;
        }
        return now - idleSince >= IDLE || held > most;
    }

    /** All together hold more than the limit, as it was made smaller, or a worker stood still for long: this one gives way. */
    private void shrink(int to) {
        cap = to;
        target = to;
        giveBack();
    }

    /** What it gets of this room, which is locked; nothing is changed here until it is settled. */
    Grant answer(Room room, long askedAt) {
        Integer most = room.slots();
        if (most != null && most < held) {
            shrink(Math.max(0, most));
        }
        int gets = Math.max(held, most == null ? target : Math.min(target, most));
        boolean limited = limits.running() != null || unsettled || held > 0;
        Duration endsIn = room.endsIn();
        int left = room.tokens() == null ? wanted : Math.max(0, Math.min(wanted, room.tokens()));
        if (returned > 0) {
            left = room.window() != null && room.window().equals(window) ? -returned : 0;
        }
        asked = room.window();
        unsettled = true;
        grant = new Grant(
                limited ? gets : null, gets < target, left, endsIn == null ? askedAt : askedAt + endsIn.toNanos());
        return grant;
    }

    /** What was answered is committed; without an answer its row was locked, or is not there yet. */
    void settle(long pollNanos) {
        long now = System.nanoTime();
        Grant got = grant;
        grant = null;
        busy = got == null;
        if (got == null) {
            slotsAgain = now + pause;
            tokensAgain = now + pause;
            tokens += returned;
            returned = 0;
            asksAgain = true;
            pause = Math.min(LONGEST_PAUSE, pause * 2);
            return;
        }
        pause = SHORTEST_PAUSE;
        unsettled = false;
        excess = false;
        waits = got.waits();
        held = got.held() == null ? 0 : got.held();
        awayUntil = held == 0 ? now + Math.max(2 * pollNanos, IDLE) : now;
        slotsAgain = waits ? now + pollNanos : now;
        if (wanted > 0) {
            tokens = got.tokens();
            window = asked;
            tokensUntil = got.tokensUntil();
            // none left: but others may give some back before the window ends
            tokensAgain = got.tokens() > 0 ? now : now + Math.min(RETRY, Math.max(0, got.tokensUntil() - now));
            usedAt = now;
            spent = false;
        }
        boolean inVain = returned > 0 && !spent;
        if (inVain) {
            tokensAgain = now + IDLE; // others have their turn, as what is due here cannot run
        }
        returned = 0;
        asksAgain = waits || inVain || (wanted > 0 && got.tokens() == 0);
        run();
    }

    /** How many jobs of it may be claimed in this window. */
    int tokens(long now) {
        if (limits.rate() == null) {
            return Integer.MAX_VALUE;
        }
        return now - tokensUntil < 0 ? tokens : 0;
    }

    /** Jobs were claimed; gives the window in which they count, or null if there is no rate. */
    @Nullable
    Instant spend(int jobs) {
        tokens = Math.max(0, tokens - jobs);
        usedAt = System.nanoTime();
        spent = true;
        return limits.rate() == null ? null : window;
    }

    /** In how long to ask again, if not at once. */
    long pause(long now) {
        long toAsk = asksAgain ? Math.max(0, Math.max(slotsAgain, tokensAgain) - now) : Long.MAX_VALUE;
        if (limits.rate() != null && tokens(now) > 0) {
            toAsk = Math.min(toAsk, Math.max(0, usedAt + IDLE - now));
        }
        return idle ? Math.min(toAsk, Math.max(0, idleSince + IDLE - now)) : toAsk;
    }
}
