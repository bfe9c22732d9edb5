package io.rowlock.internal.lease;

import io.rowlock.internal.engine.Loop;
import io.rowlock.lease.Candidacy;
import io.rowlock.lease.Leader;
import io.rowlock.lease.LeaderTask;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Tries to lead; the task runs on the thread that tries, so that it never runs twice at once in this process. */
final class LeaseCandidacy implements Candidacy, Contender {
    private final Contenders contenders;
    private final String name;
    private final Duration timeToLive;
    private final LeaderTask task;
    private final Loop loop;
    private volatile boolean stopping;
    private volatile @Nullable TermRun term;

    LeaseCandidacy(Contenders contenders, String name, Duration timeToLive, LeaderTask task) {
        this.contenders = contenders;
        this.name = name;
        this.timeToLive = timeToLive;
        this.task = task;
        this.loop = new Loop("leader-" + name, contenders.taker.holder, contenders.events, this::step);
    }

    void start() {
        loop.start();
    }

    /** A step of the loop. */
    private long step() throws Exception {
        try {
            return tryToLead();
        } finally {
            if (stopping) {
                contenders.remove(this); // also where stop() has not waited for it
            }
        }
    }

    private long tryToLead() throws Exception {
        long pause = Math.min(Leader.BETWEEN_TRIES.toNanos(), timeToLive.toNanos() / 3);
        Optional<HeldLease> lease = stopping ? Optional.empty() : contenders.tryTake(name, timeToLive);
        if (lease.isEmpty()) {
            return pause;
        }
        TermRun mine = new TermRun(lease.get());
        term = mine;
        if (stopping) { // it was told to, while the lease was taken: nothing begins any more
            term = null;
            mine.dismiss();
            return pause;
        }
        loop.works();
        try {
            mine.runToItsEnd(() -> task.lead(mine));
        } finally {
            term = null;
        }
        return TimeUnit.SECONDS.toNanos(1);
    }

    @Override
    public boolean leads() {
        TermRun now = term;
        return now != null && now.isHeld();
    }

    @Override
    public void ask() {
        stopping = true;
        loop.stop();
        TermRun now = term;
        if (now != null) {
            now.ask();
        }
    }

    @Override
    public boolean stop(Duration grace) {
        LeaseChecks.notNegative("grace", grace);
        ask();
        TermRun now = term;
        if (now != null && now.runsOnThisThread()) {
            return false;
        }
        boolean ended = now == null || now.stop(grace);
        try {
            ended &= loop.join(1_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        if (ended) {
            contenders.remove(this);
        }
        return ended;
    }

    @Override
    public boolean works(HeldLease lease) {
        TermRun now = term;
        return now != null && now.works(lease);
    }

    @Override
    public List<FailingLoop> failing() {
        return loop.failing().stream().toList();
    }
}
