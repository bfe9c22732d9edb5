package io.rowlock.limit;

import java.util.HashMap;
import java.util.Map;

/** How many handlers run now, and ran at most, by name. */
final class Gauge {
    private final Map<String, Integer> running = new HashMap<>();
    private final Map<String, Integer> most = new HashMap<>();
    private final Map<String, Integer> ended = new HashMap<>();

    @FunctionalInterface
    interface Work {
        void done() throws Exception;
    }

    void during(String name, Work work) throws Exception {
        change(name, 1);
        try {
            work.done();
        } finally {
            change(name, -1);
        }
    }

    private synchronized void change(String name, int by) {
        int now = running.merge(name, by, Integer::sum);
        most.merge(name, now, Math::max);
        ended.merge(name, by < 0 ? 1 : 0, Integer::sum);
    }

    synchronized int running(String name) {
        return running.getOrDefault(name, 0);
    }

    synchronized int most(String name) {
        return most.getOrDefault(name, 0);
    }

    synchronized int ended(String name) {
        return ended.getOrDefault(name, 0);
    }
}
