package io.rowlock.internal.lease;

/** A unit of work under the lock of a session, in the thread that called. Changed under the monitor of its {@link Leadership}. */
final class LeaderUnit {
    final LeaderSession session;
    private final Thread thread = Thread.currentThread();
    private boolean interrupted;
    private volatile boolean lost;

    LeaderUnit(LeaderSession session) {
        this.session = session;
    }

    /** Its session is gone. */
    void lose() {
        lost = true;
        interrupt();
    }

    void interrupt() {
        interrupted = true;
        thread.interrupt();
    }

    /** By its own thread, once nobody interrupts it any more: takes our interrupt back, and no other. */
    void end() {
        if (interrupted) {
            Thread.interrupted();
        }
    }

    /** Whether another may have led while it ran. */
    boolean isLost() {
        return lost;
    }
}
