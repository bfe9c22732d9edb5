package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the PostgreSQL programs for one server folder. What they say goes into the folder's log. */
final class PostgresPrograms {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long SHOWN_BYTES = 4000;

    private final PostgresBinaries binaries;
    private final ServerFolder folder;

    PostgresPrograms(PostgresBinaries binaries, ServerFolder folder) {
        this.binaries = binaries;
        this.folder = folder;
    }

    /** Starts a program and leaves it running. */
    Process start(String program, String... arguments) {
        Unprivileged user = Unprivileged.here();
        user.give(folder.path());
        List<String> command = new ArrayList<>(List.of(binaries.program(program)));
        command.addAll(List.of(arguments));
        try {
            Process process = user.command(command)
                    .directory(folder.path().toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(
                            ProcessBuilder.Redirect.appendTo(folder.log().toFile()))
                    .start();
            process.getOutputStream().close();
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run " + String.join(" ", command) + ": " + e.getMessage(), e);
        }
    }

    /** Runs a program to its end, which must be a good one. */
    void run(String program, String... arguments) {
        long before = logSize();
        Process process = start(program, arguments);
        if (!exited(process, LIMIT) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IllegalStateException(program + " failed. It said:\n" + logFrom(before));
        }
    }

    static boolean exited(Process process, Duration limit) {
        try {
            return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !process.isAlive();
        }
    }

    long logSize() {
        return folder.log().toFile().length();
    }

    /** The log from an offset on, but not more than its last 4000 bytes. */
    String logFrom(long offset) {
        try {
            byte[] all = Files.exists(folder.log()) ? Files.readAllBytes(folder.log()) : new byte[0];
            int start = (int) Math.max(Math.min(offset, all.length), all.length - SHOWN_BYTES);
            return new String(all, start, all.length - start, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "(its log cannot be read: " + e.getMessage() + ")";
        }
    }
}
