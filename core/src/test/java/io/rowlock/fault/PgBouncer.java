package io.rowlock.fault;

import io.rowlock.testkit.postgres.TestSchema;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PgBouncer of one test. Found on the path, as the packages of Linux distributions put it there. In transaction mode it
 * has three sessions of the server for all its clients.
 */
final class PgBouncer implements AutoCloseable {
    private static final int LENT = 3;
    private static final int KEPT = 20;

    private final Path folder;
    private final int port;
    private final Process process;

    private PgBouncer(Path folder, int port, Process process) {
        this.folder = folder;
        this.port = port;
        this.process = process;
    }

    /** Where it is installed; empty if it is not. */
    static Optional<Path> program() {
        return Arrays.stream((System.getenv("PATH") + File.pathSeparator + "/usr/sbin").split(File.pathSeparator, -1))
                .map(each -> Path.of(each, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static PgBouncer before(TestSchema schema, String mode) throws IOException {
        Path folder = Files.createTempDirectory("pgbouncer");
        int port = freePort();
        PGSimpleDataSource server = schema.dataSource();
        Files.writeString(folder.resolve("users"), "\"" + server.getUser() + "\" \"" + server.getPassword() + "\"\n");
        Files.writeString(folder.resolve("pgbouncer.ini"), """
                [databases]
                * = host=%s port=%d
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = trust
                auth_file = %s
                pool_mode = %s
                default_pool_size = %d
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits,search_path,options
                """.formatted(
                        server.getServerNames()[0],
                        server.getPortNumbers()[0],
                        port,
                        folder.resolve("users"),
                        mode,
                        mode.equals("transaction") ? LENT : KEPT));
        readableByAll(folder);
        List<String> command = new ArrayList<>(List.of(
                program().orElseThrow().toString(),
                folder.resolve("pgbouncer.ini").toString()));
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(1, List.of("-u", "nobody")); // it refuses to run as root
        }
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        PgBouncer started = new PgBouncer(folder, port, process);
        Awaitility.await().ignoreExceptions().atMost(Duration.ofSeconds(30)).until(() -> started.answers(schema));
        return started;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void readableByAll(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private boolean answers(TestSchema schema) throws SQLException {
        try (Connection connection = dataSource(schema).getConnection()) {
            return connection.isValid(1);
        }
    }

    /** Leads through it, without a pool; the driver prepares statements as it does by default. */
    PGSimpleDataSource dataSource(TestSchema schema) {
        PGSimpleDataSource source = schema.dataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port});
        return source;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            for (String each : List.of("log", "users", "pgbouncer.ini")) {
                Files.deleteIfExists(folder.resolve(each));
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
