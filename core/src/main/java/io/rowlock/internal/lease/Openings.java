package io.rowlock.internal.lease;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the connections that are being opened. Those that hang, in a network that swallows all, count for a time only. */
final class Openings {
    private static final Logger LOG = LoggerFactory.getLogger(Openings.class);
    private static final int AT_ONCE = 3;
    private static final int MOST = 20;

    /** Those that hang longer than this come back no more, and count no more: there may be twenty in that time. */
    private static final long FORGOTTEN = TimeUnit.MINUTES.toNanos(5);

    private final long lapse;
    private final Map<Object, Long> begun = new HashMap<>();
    private boolean told;

    Openings(Duration lapse) {
        this.lapse = lapse.toNanos();
    }

    /** False if there was no room for one more within the time. */
    synchronized boolean begin(Object opening, Duration within) throws InterruptedException {
        long until = System.nanoTime() + within.toNanos();
        while (isFull()) {
            long left = until - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, lapse));
        }
        begun.put(opening, System.nanoTime());
        return true;
    }

    /** It came, or failed. */
    synchronized void end(Object opening) {
        begun.remove(opening);
        told &= !begun.isEmpty();
        notifyAll();
    }

    private boolean isFull() {
        long now = System.nanoTime();
        begun.values().removeIf(at -> now - at >= FORGOTTEN);
        long fresh = begun.values().stream().filter(at -> now - at < lapse).count();
        boolean hung = fresh < begun.size();
        if (hung && !told) {
            told = true;
            LOG.warn(
                    "Connections are being opened for more than {} s; give the data source a connectTimeout and a socketTimeout"
                            + " (hanging={})",
                    TimeUnit.NANOSECONDS.toSeconds(lapse),
                    begun.size() - fresh);
        }
        return fresh >= AT_ONCE || begun.size() >= MOST;
    }
}
