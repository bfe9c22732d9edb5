package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process with all that descend from it, here a postmaster with its backends, treated as one. */
final class ProcessTree {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private ProcessTree() {}

    /** Stops all: the root first, so that it forks no more while its children are counted. */
    static void pause(ProcessHandle root) {
        Signal.STOP.send(root);
        Signal.STOP.send(root.descendants().toList());
    }

    /** Lets all go on: the root last, so that it does not take stopped children for dead. */
    static void unpause(ProcessHandle root) {
        Signal.CONT.send(root.descendants().toList());
        Signal.CONT.send(root);
    }

    /**
     * SIGKILL to the root and then to all others, in one blow: a living postmaster would answer the death of a backend
     * by restarting the rest, so it is stopped first and killed first. Returns when all are gone.
     */
    static void kill(ProcessHandle root) {
        if (!Signal.isWindows()) {
            Signal.STOP.send(root);
        }
        List<ProcessHandle> all = new ArrayList<>(List.of(root));
        root.descendants().forEach(all::add);
        all.forEach(ProcessHandle::destroyForcibly);
        if (!Waiting.until(LIMIT, () -> all.stream().noneMatch(ProcessTree::lives))) {
            throw new IllegalStateException("Still alive " + LIMIT.toSeconds() + " s after SIGKILL: " + all);
        }
    }

    /** A zombie that nobody waits for counts as dead: it holds neither memory nor sockets. */
    static boolean lives(ProcessHandle process) {
        if (!process.isAlive()) {
            return false;
        }
        try {
            Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
            String text = Files.exists(stat) ? Files.readString(stat) : "";
            return !text.startsWith(" Z ", text.lastIndexOf(')') + 1);
        } catch (IOException e) {
            return process.isAlive();
        }
    }
}
