package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * One PostgreSQL cluster on disk and the process that serves it. The postmaster is a direct child of this JVM, so that
 * its process id is known, a second start on the same folder and port is only a second process, and signals reach it.
 *
 * <p>It listens on 127.0.0.1 only. It has no Unix socket and keeps its dynamic shared memory in files of its own
 * folder, because a kill would leave both behind elsewhere. Trust authentication: see the password of {@link
 * TestPostgres#password()}. Safe for use by several threads; its methods wait for each other.
 */
final class EmbeddedServer {

    static final String USER = "postgres";
    static final String PASSWORD = "postgres";
    static final String HOST = "127.0.0.1";

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final int PORT_TRIES = 5;

    private final PostgresBinaries binaries;
    private final ServerFolder folder;
    private final PostgresPrograms programs;
    private volatile int port = FreePort.find();
    private final Thread atExit;
    private boolean startedOnce;
    private @Nullable Process process;

    private EmbeddedServer(PostgresBinaries binaries, ServerFolder folder) {
        this.binaries = binaries;
        this.folder = folder;
        this.programs = new PostgresPrograms(binaries, folder);
        this.atExit = new Thread(this::delete, "embedded-postgres-stop");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** A new, empty cluster, started. */
    static EmbeddedServer started(PostgresOptions options) {
        EmbeddedServer server = empty();
        try {
            NewCluster.in(server.folder, server.binaries, server.programs);
            server.append("postgresql.conf", options.settings());
            server.start();
            return server;
        } catch (RuntimeException e) {
            server.delete();
            throw e;
        }
    }

    /** A cluster whose data directory the caller fills before it starts it. */
    static EmbeddedServer empty() {
        return new EmbeddedServer(PostgresBinaries.unpacked(ServerFolder.home()), ServerFolder.create());
    }

    String url() {
        return JdbcUrl.of(HOST, port, "postgres");
    }

    int port() {
        return port;
    }

    Path data() {
        return folder.data();
    }

    /** Starts on the cluster as it is, after a crash too, and returns when a connection was accepted. */
    synchronized void start() {
        if (isRunning()) {
            throw new IllegalStateException("The server runs already: " + url());
        }
        for (int i = 1; ; i++) {
            long before = programs.logSize();
            process = launch();
            String failure = awaitReady(process);
            if (failure == null) {
                startedOnce = true;
                return;
            }
            kill();
            String said = programs.logFrom(before);
            if (i == PORT_TRIES || !said.contains("Address already in use")) {
                throw new IllegalStateException("PostgreSQL " + failure + ". It said:\n" + said);
            }
            port = startedOnce ? port : FreePort.find();
        }
    }

    synchronized boolean isRunning() {
        return process != null && process.isAlive();
    }

    /**
     * Sends the signal for one of PostgreSQL's shutdown modes and waits until the server is gone. No error if it does
     * not run.
     */
    synchronized void stop(Signal mode) {
        if (process == null || !process.isAlive()) {
            return;
        }
        if (Signal.isWindows()) {
            programs.run(
                    "pg_ctl", "stop", "-w", "-m", mode == Signal.INT ? "fast" : "immediate", "-D", data().toString());
        } else {
            ProcessTree.unpause(process.toHandle());
            mode.send(process.toHandle());
        }
        if (!PostgresPrograms.exited(process, STOP_LIMIT)) {
            kill();
            throw new IllegalStateException("PostgreSQL did not stop within " + STOP_LIMIT.toSeconds()
                    + " s and was killed. It said:\n" + programs.logFrom(0));
        }
    }

    /** SIGKILL to the postmaster and all backends. No error if it does not run. */
    synchronized void kill() {
        if (process != null && process.isAlive()) {
            ProcessTree.kill(process.toHandle());
            PostgresPrograms.exited(process, STOP_LIMIT);
        }
    }

    synchronized void pause() {
        ProcessTree.pause(running());
    }

    synchronized void unpause() {
        ProcessTree.unpause(running());
    }

    /** Stops the server, if it runs, and deletes its files. Runs when the JVM ends, too. */
    synchronized void delete() {
        try {
            stop(Signal.QUIT);
        } finally {
            folder.delete();
        }
        if (Thread.currentThread() != atExit) {
            forgetExit();
        }
    }

    private void forgetExit() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM ends at this moment: the hook will find nothing left to do.
            return;
        }
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), USER, PASSWORD);
    }

    /** Makes the copy of a primary follow it; the name is that of the slot there, too. */
    void follow(int primaryPort, String name) {
        append(
                "postgresql.auto.conf",
                Map.of(
                        "primary_slot_name",
                        name,
                        "primary_conninfo",
                        "host=" + HOST + " port=" + primaryPort + " user=" + USER + " application_name=" + name));
    }

    /** Appends to a file of settings, where the last line for a name wins. Read at the next start. */
    private void append(String file, Map<String, String> settings) {
        StringBuilder lines = new StringBuilder("\n");
        settings.forEach((name, value) -> lines.append(name)
                .append(" = '")
                .append(value.replace("'", "''"))
                .append("'\n"));
        try {
            Files.writeString(data().resolve(file), lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the settings of " + data() + ": " + e.getMessage(), e);
        }
    }

    private Process launch() {
        return programs.start(
                "postgres",
                "-D",
                data().toString(),
                "-p",
                Integer.toString(port),
                "-c",
                "listen_addresses=" + HOST,
                "-c",
                "unix_socket_directories=",
                "-c",
                "dynamic_shared_memory_type=" + (Signal.isWindows() ? "windows" : "mmap"));
    }

    /** Null when a connection was accepted, else what went wrong. */
    private @Nullable String awaitReady(Process started) {
        boolean ended = Waiting.until(START_LIMIT, () -> !started.isAlive() || accepts());
        if (!started.isAlive()) {
            return "ended with exit code " + started.exitValue() + " while starting";
        }
        return ended ? null : "accepted no connection within " + START_LIMIT.toSeconds() + " s";
    }

    private boolean accepts() {
        Properties properties = new Properties();
        properties.setProperty("user", USER);
        properties.setProperty("connectTimeout", "2");
        properties.setProperty("socketTimeout", "10");
        try (Connection connection = DriverManager.getConnection(url(), properties)) {
            return connection.isValid(2);
        } catch (SQLException e) {
            return false;
        }
    }

    private ProcessHandle running() {
        if (process == null || !process.isAlive()) {
            throw new IllegalStateException("The server does not run: " + url());
        }
        return process.toHandle();
    }
}
