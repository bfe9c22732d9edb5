package io.rowlock.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What handlers did, in order, by key; fails the test when two jobs of one key are at work at once. */
final class Log {
    private final Map<String, List<Integer>> ended = new HashMap<>();
    private final Map<String, Integer> running = new HashMap<>();
    private final List<String> overlaps = new ArrayList<>();

    @FunctionalInterface
    interface Work {
        void done() throws Exception;
    }

    /** Does the work of a job as its handler. */
    void during(String key, int no, Work work) throws Exception {
        begin(key, no);
        try {
            work.done();
            end(key, no);
        } finally {
            leave(key);
        }
    }

    private synchronized void begin(String key, int no) {
        Integer other = running.putIfAbsent(key, no);
        if (other != null) {
            overlaps.add(key + ": " + no + " began while " + other + " ran");
        }
    }

    private synchronized void end(String key, int no) {
        ended.computeIfAbsent(key, absent -> new ArrayList<>()).add(no);
    }

    private synchronized void leave(String key) {
        running.remove(key);
    }

    /** The jobs of a key that ended well so far, in their order. */
    synchronized List<Integer> of(String key) {
        assertThat(overlaps).isEmpty();
        return List.copyOf(ended.getOrDefault(key, List.of()));
    }

    synchronized boolean isRunning(String key, int no) {
        return Integer.valueOf(no).equals(running.get(key));
    }
}
