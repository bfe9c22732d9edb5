package io.rowlock.testkit.postgres;

import java.util.function.BooleanSupplier;

/** Open, all pass; shut, all wait. */
final class Gate {

    private boolean open = true;

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
}
