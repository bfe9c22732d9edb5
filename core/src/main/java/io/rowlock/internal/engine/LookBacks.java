package io.rowlock.internal.engine;

import java.util.concurrent.TimeUnit;

/**
 * When claims look back behind their watermarks: ten times a second, but for no more than one part in twenty of the time. For the
 * claimer's thread.
 */
final class LookBacks {
    private static final long BETWEEN = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int SHARE = 20;

    private long next = System.nanoTime();
    private boolean owed;

    /** Whether the claim that begins now is to look back. */
    boolean isDue(long now) {
        return now - next >= 0;
    }

    /** A claim that looked back took so long. */
    void done(long tookNanos) {
        next = System.nanoTime() + Math.max(BETWEEN, tookNanos * SHARE);
        owed = false;
    }

    /** A claim that did not look back found no more: a row that committed late may stand behind its watermark. */
    void owe() {
        owed = true;
    }

    /** In how many nanoseconds a claim is to look back though nothing else asks for one; Long.MAX_VALUE if it need not. */
    long pause(long now) {
        return owed ? Math.max(0, next - now) : Long.MAX_VALUE;
    }
}
