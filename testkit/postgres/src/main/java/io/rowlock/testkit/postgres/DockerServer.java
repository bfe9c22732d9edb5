package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** PostgreSQL in a container, where there is Docker. */
final class DockerServer {

    private DockerServer() {}

    /**
     * Looks for a sign of Docker first: asking Testcontainers where there is none costs half a second and an ERROR in
     * the log.
     */
    static boolean answers() {
        return signs() && DockerClientFactory.instance().isDockerAvailable();
    }

    static SharedPostgres start() {
        DockerImageName image = DockerImageName.parse(Switch.read(Switch.IMAGE, "postgres:17"));
        PostgreSQLContainer container = new PostgreSQLContainer(image.asCompatibleSubstituteFor("postgres"))
                .withDatabaseName("postgres")
                .withUsername(EmbeddedServer.USER)
                .withPassword(EmbeddedServer.PASSWORD);
        container.setCommand(command());
        try {
            container.start();
        } catch (RuntimeException e) {
            container.close();
            throw new IllegalStateException("Docker did not start " + image + ": " + e.getMessage(), e);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(container::stop, "rowlock-test-postgres-stop"));
        String url = JdbcUrl.of(
                container.getHost(), container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT), "postgres");
        return new SharedPostgres(url, EmbeddedServer.USER, EmbeddedServer.PASSWORD);
    }

    private static String[] command() {
        List<String> command = new ArrayList<>(List.of("postgres"));
        new PostgresOptions().settings().forEach((name, value) -> {
            command.add("-c");
            command.add(name + "=" + value);
        });
        return command.toArray(String[]::new);
    }

    private static boolean signs() {
        if (System.getenv("DOCKER_HOST") != null
                || System.getProperty("os.name").startsWith("Windows")) {
            return true;
        }
        Path home = Path.of(System.getProperty("user.home"));
        List<Path> sockets = new ArrayList<>(List.of(
                Path.of("/var/run/docker.sock"),
                home.resolve(".docker/run/docker.sock"),
                home.resolve(".docker/desktop/docker.sock")));
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null) {
            sockets.add(Path.of(runtime, "docker.sock"));
        }
        return sockets.stream().anyMatch(Files::exists) || isConfigured(home.resolve(".testcontainers.properties"));
    }

    /** Testcontainers writes this file itself, so its mere existence says nothing. */
    private static boolean isConfigured(Path file) {
        try {
            return Files.exists(file) && Files.readString(file).contains("docker.host=");
        } catch (IOException e) {
            return true;
        }
    }
}
