package io.rowlock.testkit.postgres;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a process says, line by line, as it comes; waits for a line that is wanted. */
final class ChildOutput {

    private static final Logger LOG = LoggerFactory.getLogger(ChildJvm.class);
    private static final int SHOWN = 60;

    private final List<String> lines = new ArrayList<>();
    private int next;
    private boolean ended;

    void readFrom(InputStream stream, long pid) {
        Thread thread = new Thread(() -> read(stream, pid), "child-jvm-" + pid + "-output");
        thread.setDaemon(true);
        thread.start();
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /**
     * The next line that fits, after the last one that was returned; empty if none came in time or the process ended
     * without it.
     */
    synchronized Optional<String> await(Predicate<String> wanted, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        int looked = next;
        while (true) {
            for (; looked < lines.size(); looked++) {
                if (wanted.test(lines.get(looked))) {
                    next = looked + 1;
                    return Optional.of(lines.get(looked));
                }
            }
            long left = deadline - System.nanoTime();
            if (ended || left <= 0) {
                return Optional.empty();
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** Waits until everything was read that an ended process said. */
    synchronized void awaitEnd(Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        for (long left = limit.toNanos(); !ended && left > 0; left = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** The last lines, for the message of a failure. */
    synchronized String tail() {
        int from = Math.max(0, lines.size() - SHOWN);
        return lines.isEmpty()
                ? "It said nothing."
                : "It said:\n" + String.join("\n", lines.subList(from, lines.size()));
    }

    private void read(InputStream stream, long pid) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                LOG.debug("[{}] {}", pid, line);
                add(line);
            }
        } catch (IOException e) {
            add("(its output could not be read further: " + e.getMessage() + ")");
        }
        end();
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }
}
