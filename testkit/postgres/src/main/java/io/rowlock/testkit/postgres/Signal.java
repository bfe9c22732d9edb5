package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** A Unix signal, sent by the {@code kill} program: Java itself knows only TERM and KILL. */
enum Signal {
    KILL,
    TERM,
    INT,
    QUIT,
    STOP,
    CONT;

    /** Sends to all that still exist; one that is gone already is no error. */
    void send(Collection<ProcessHandle> processes) {
        requireUnix();
        if (processes.isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("kill", "-" + name()));
        processes.forEach(process -> command.add(Long.toString(process.pid())));
        try {
            Process kill = new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = kill.waitFor();
            if (code != 0 && processes.stream().anyMatch(ProcessHandle::isAlive) && !said.contains("No such process")) {
                throw new IllegalStateException(String.join(" ", command) + " failed: " + said.strip());
            }
        } catch (IOException e) {
            throw new IllegalStateException("Cannot run " + String.join(" ", command) + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending " + this, e);
        }
    }

    void send(ProcessHandle process) {
        send(List.of(process));
    }

    static boolean isWindows() {
        return System.getProperty("os.name").startsWith("Windows");
    }

    private void requireUnix() {
        if (isWindows()) {
            throw new UnsupportedOperationException(
                    "Windows has no signal " + this + "; run this test on Linux or macOS");
        }
    }
}
