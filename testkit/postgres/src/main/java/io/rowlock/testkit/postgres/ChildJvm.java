package io.rowlock.testkit.postgres;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Another Java process with the class path of this one, for tests of what is left when a process dies or stands still
 * at any instant.
 *
 * <pre>{@code
 * try (ChildJvm child = ChildJvm.start(Worker.class, o -> o.sharing(server).jvmArguments("-Xmx64m"))) {
 *     child.awaitLine("claimed", Duration.ofSeconds(20));
 *     child.kill();
 * }
 * }</pre>
 *
 * <p>Test and child speak in lines: {@link #send} writes to its standard input, {@link #awaitLine(String, Duration)}
 * reads its standard output and error, which are one. Every exception shows what the child said last; each line is
 * logged at DEBUG too.
 *
 * <p>{@link #pause}, {@link #resume} and {@link #terminate} need Unix. The child is killed when it is closed and when
 * this JVM ends in order; if this JVM is killed, the child sees the end of its standard input. Safe for use by several
 * threads.
 */
public final class ChildJvm implements AutoCloseable {

    private static final Duration LAST_WORDS = Duration.ofSeconds(5);

    private final Process process;
    private final BufferedWriter input;
    private final ChildOutput output = new ChildOutput();
    private final Path classPathFile;
    private final Thread atExit;

    private ChildJvm(Process process, Path classPathFile) {
        this.process = process;
        this.classPathFile = classPathFile;
        this.input = process.outputWriter();
        this.atExit = new Thread(process::destroyForcibly, "child-jvm-" + process.pid() + "-kill");
    }

    /**
     * Starts the main method of a class. Returns at once, before the child has run anything.
     *
     * @param main a class with {@code public static void main(String[])}; neither it nor its name needs to be public
     * @param options changes how it is started
     * @return a process that runs; close it
     * @throws UncheckedIOException if the process cannot be started
     */
    public static ChildJvm start(Class<?> main, Consumer<ChildJvmOptions> options) {
        ChildJvmOptions chosen = new ChildJvmOptions();
        options.accept(chosen);
        try {
            Path file = ClassPathFile.write();
            String java =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            Process process = new ProcessBuilder(chosen.command(java, file.toString(), main.getName()))
                    .redirectErrorStream(true)
                    .start();
            ChildJvm child = new ChildJvm(process, file);
            Runtime.getRuntime().addShutdownHook(child.atExit);
            child.output.readFrom(process.getInputStream(), process.pid());
            return child;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start a JVM for " + main.getName() + ": " + e.getMessage(), e);
        }
    }

    /**
     * The process id.
     *
     * @return that of the operating system
     */
    public long pid() {
        return process.pid();
    }

    /**
     * Whether the process exists; a paused one does.
     *
     * @return false once it has ended
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Writes a line to its standard input. Blocks only if the child does not read and the pipe is full.
     *
     * @param line without its end
     * @throws IllegalStateException if the child has ended or closed its input
     */
    public void send(String line) {
        try {
            synchronized (input) {
                input.write(line);
                input.newLine();
                input.flush();
            }
        } catch (IOException e) {
            throw new IllegalStateException("Cannot send \"" + line + "\" to " + this + ". " + output.tail(), e);
        }
    }

    /**
     * All it has said so far.
     *
     * @return a copy, oldest line first
     */
    public List<String> lines() {
        return output.lines();
    }

    /**
     * Waits for a line that contains a text, from the line after the one that was returned last, so that the same text
     * may be awaited again.
     *
     * @param text part of the line
     * @param limit the longest to wait
     * @return the whole line
     * @throws IllegalStateException if no such line came within the limit, or the process ended without it
     * @throws InterruptedException if the thread is interrupted
     */
    public String awaitLine(String text, Duration limit) throws InterruptedException {
        return awaitLine(line -> line.contains(text), "\"" + text + "\"", limit);
    }

    /**
     * Waits for a line that fits, from the line after the one that was returned last.
     *
     * @param wanted true for the line
     * @param limit the longest to wait
     * @return the line
     * @throws IllegalStateException if no such line came within the limit, or the process ended without it
     * @throws InterruptedException if the thread is interrupted
     */
    public String awaitLine(Predicate<String> wanted, Duration limit) throws InterruptedException {
        return awaitLine(wanted, "that was wanted", limit);
    }

    private String awaitLine(Predicate<String> wanted, String what, Duration limit) throws InterruptedException {
        return output.await(wanted, limit)
                .orElseThrow(() -> new IllegalStateException(
                        "No line " + what + " within " + limit.toMillis() + " ms from " + this + ". " + output.tail()));
    }

    /** Kills it with SIGKILL: nothing of it runs any more when this returns. Nothing happens if it has ended. */
    public void kill() {
        process.destroyForcibly();
        if (!Waiting.until(LAST_WORDS, () -> !process.isAlive())) {
            throw new IllegalStateException("Not dead " + LAST_WORDS.toSeconds() + " s after SIGKILL: " + this);
        }
    }

    /**
     * Stops it with SIGSTOP: all its threads stand still, its connections stay open, its clock goes on. Like a long
     * pause of a virtual machine.
     *
     * @throws UnsupportedOperationException on Windows
     */
    public void pause() {
        Signal.STOP.send(process.toHandle());
    }

    /**
     * Lets it go on with SIGCONT.
     *
     * @throws UnsupportedOperationException on Windows
     */
    public void resume() {
        Signal.CONT.send(process.toHandle());
    }

    /**
     * Asks it to end with SIGTERM: its shutdown hooks run. Does not wait: see {@link #awaitExit}.
     *
     * @throws UnsupportedOperationException on Windows
     */
    public void terminate() {
        Signal.TERM.send(process.toHandle());
    }

    /**
     * Waits until it has ended and everything it said was read.
     *
     * @param limit the longest to wait
     * @return its exit code; 137 after SIGKILL, 143 after SIGTERM
     * @throws IllegalStateException if it still runs after the limit
     * @throws InterruptedException if the thread is interrupted
     */
    public int awaitExit(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(
                    "Still runs after " + limit.toMillis() + " ms: " + this + ". " + output.tail());
        }
        output.awaitEnd(LAST_WORDS);
        return process.exitValue();
    }

    /** Kills it, if it still runs. */
    @Override
    public void close() {
        kill();
        try {
            Files.deleteIfExists(classPathFile);
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot delete " + classPathFile, e);
        } catch (IllegalStateException e) {
            // This JVM ends already: the hook runs, and finds nothing to kill.
            return;
        }
    }

    @Override
    public String toString() {
        return "ChildJvm[pid " + pid() + (isAlive() ? "" : ", exit code " + process.exitValue()) + "]";
    }
}
