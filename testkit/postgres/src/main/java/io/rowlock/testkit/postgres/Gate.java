package io.rowlock.testkit.postgres;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Open, all pass; shut, all wait. Who is delayed waits for a time as well, counted from when he came. */
final class Gate {

    private boolean open = true;
    private Duration delay = Duration.ZERO;

    synchronized void open() {
        open = true;
        notifyAll();
    }

    synchronized void shut() {
        open = false;
    }

    /** Lets those look again who may have a reason to give up. */
    synchronized void disturb() {
        notifyAll();
    }

    /** From now on, also for those who wait already. */
    synchronized void delay(Duration each) {
        delay = each;
        notifyAll();
    }

    /** Waits until the gate is open. False: the thread gave up meanwhile. */
    synchronized boolean pass(BooleanSupplier gaveUp) {
        try {
            while (!open && !gaveUp.getAsBoolean()) {
                wait();
            }
            return !gaveUp.getAsBoolean();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The same, but not before the delay is over. */
    synchronized boolean passDelayed(BooleanSupplier gaveUp) {
        long came = System.nanoTime();
        try {
            for (long left = delay.toNanos();
                    left > 0 && !gaveUp.getAsBoolean();
                    left = came + delay.toNanos() - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return pass(gaveUp);
    }
}
