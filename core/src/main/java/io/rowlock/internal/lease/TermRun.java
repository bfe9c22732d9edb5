package io.rowlock.internal.lease;

import io.rowlock.internal.engine.Described;
import io.rowlock.lease.Term;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task that runs under a lease. Asked to end, it may finish what it has begun; when the lease is lost its thread is
 * interrupted. The lease is given back when the task has ended, never before (case B23).
 */
class TermRun implements Term, Contender {
    private static final Logger LOG = LoggerFactory.getLogger(TermRun.class);
    private static final Duration AFTER_INTERRUPT = Duration.ofSeconds(1);

    final HeldLease lease;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean asked;
    private volatile boolean lost;
    private @Nullable Thread worker;
    private boolean interrupted;

    TermRun(HeldLease lease) {
        this.lease = lease;
    }

    /** What is done. */
    @FunctionalInterface
    interface Task {
        void run() throws Exception;
    }

    /** On this thread; throws what the task threw. */
    void run(Task task) throws Exception {
        synchronized (this) {
            worker = Thread.currentThread();
        }
        try {
            lease.onLost(this::interrupt);
            task.run();
        } finally {
            lost = !lease.isHeld();
            synchronized (this) {
                worker = null;
                if (interrupted) {
                    Thread.interrupted(); // ours, and nobody else's business
                }
            }
            lease.release();
            ended.countDown();
        }
    }

    /** The same, but what is thrown by a task that was told to end or has lost its lease is no failure. */
    void runToItsEnd(Task task) throws Exception {
        try {
            run(task);
        } catch (Exception e) {
            if (!asked && !lost) {
                throw e;
            }
            Described.quietly(() -> LOG.info(
                    "A task ended by an exception after its lease was lost or it was told to end (lease={}, token={}): {}",
                    name(),
                    token(),
                    Described.text(e)));
        }
    }

    /** Whether the lease was lost when the task ended. */
    boolean wasLost() {
        return lost;
    }

    /** Nothing runs under it, now or later. */
    void dismiss() {
        lease.release();
        ended.countDown();
    }

    boolean hasEnded() {
        return ended.getCount() == 0;
    }

    boolean isAsked() {
        return asked;
    }

    @Override
    public void ask() {
        asked = true;
    }

    @Override
    public boolean stop(Duration grace) {
        return stop(List.of(this), grace);
    }

    /** Waits for all of them; then interrupts all that are left, and waits once more, for all together. */
    static boolean stop(Collection<? extends TermRun> runs, Duration grace) {
        runs.forEach(TermRun::ask);
        List<TermRun> others =
                runs.stream().filter(run -> !run.runsOnThisThread()).collect(Collectors.toList());
        if (!awaitEnd(others, grace)) {
            others.removeIf(TermRun::hasEnded);
            others.forEach(TermRun::interruptLate);
            awaitEnd(others, AFTER_INTERRUPT);
        }
        return runs.stream().allMatch(TermRun::hasEnded);
    }

    private static boolean awaitEnd(List<TermRun> runs, Duration atMost) {
        long until = System.nanoTime() + atMost.toNanos();
        try {
            for (TermRun run : runs) {
                if (!run.ended.await(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    return false;
                }
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void interruptLate() {
        LOG.info("A task did not end within its grace period and is interrupted (lease={}, token={})", name(), token());
        interrupt();
    }

    /** Interrupts the task, if it runs. */
    synchronized void interrupt() {
        if (worker != null) {
            interrupted = true;
            worker.interrupt();
        }
    }

    synchronized boolean runsOnThisThread() {
        return worker == Thread.currentThread();
    }

    @Override
    public boolean works(HeldLease other) {
        return lease == other && !hasEnded();
    }

    @Override
    public List<FailingLoop> failing() {
        return List.of();
    }

    @Override
    public String name() {
        return lease.name();
    }

    @Override
    public long token() {
        return lease.token();
    }

    @Override
    public boolean goesOn() {
        return !asked && lease.isHeld();
    }

    @Override
    public boolean isHeld() {
        return lease.isHeld();
    }

    @Override
    public void check() {
        lease.check();
    }

    @Override
    public Duration left() {
        return lease.left();
    }

    @Override
    public void fence(Connection connection) {
        lease.fence(connection);
    }
}
