package io.rowlock.testkit.postgres;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A cut that a {@link TcpProxy} will make when a statement passes: made by {@link TcpProxy#cutBefore} or {@link
 * TcpProxy#cutAfter}. It fires at most once. Safe for use by several threads.
 */
public final class PlannedCut {

    private final String fragment;
    private final boolean afterwards;
    private volatile Progress progress = Progress.WAITING;
    private final CountDownLatch fired = new CountDownLatch(1);

    PlannedCut(String fragment, boolean afterwards) {
        this.fragment = fragment;
        this.afterwards = afterwards;
    }

    /**
     * Whether the connection was cut.
     *
     * @return true from the moment when its end at the server is closed; whoever got the client's error finds it true
     */
    public boolean hasFired() {
        return fired.getCount() == 0;
    }

    /**
     * Waits until the connection was cut.
     *
     * @param limit the longest to wait
     * @throws IllegalStateException if it was not cut within the limit; the message says whether the statement was seen
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitFired(Duration limit) throws InterruptedException {
        if (!fired.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(
                    "Not cut within " + limit.toMillis() + " ms: " + progress.description + " (" + this + ")");
        }
    }

    /** Gives it up: a statement that comes by later is let through. Nothing happens if it has fired. */
    public void cancel() {
        leaveWaiting(Progress.CANCELLED);
    }

    boolean isAfterwards() {
        return afterwards;
    }

    /** True for the one message that is to be cut. */
    boolean claim(String sql) {
        return sql.contains(fragment) && leaveWaiting(Progress.SEEN);
    }

    void fire() {
        fired.countDown();
    }

    @Override
    public String toString() {
        return (afterwards ? "cut after " : "cut before ") + fragment;
    }

    private synchronized boolean leaveWaiting(Progress next) {
        boolean waits = progress == Progress.WAITING;
        progress = waits ? next : progress;
        return waits;
    }

    private enum Progress {
        WAITING("no such statement came by"),
        SEEN("the server has not answered the statement yet"),
        CANCELLED("it was cancelled");

        private final String description;

        Progress(String description) {
            this.description = description;
        }
    }
}
