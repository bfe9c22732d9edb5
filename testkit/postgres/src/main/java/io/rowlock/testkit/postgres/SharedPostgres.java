package io.rowlock.testkit.postgres;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server of {@link TestPostgres#shared()}: chosen and started once, then only an address. */
final class SharedPostgres implements TestPostgres {

    private static final Logger LOG = LoggerFactory.getLogger(SharedPostgres.class);
    private static final String OTHER_WAYS = " Other ways: start Docker, or name a server that runs with -D"
            + Switch.URL + "=jdbc:postgresql://host:port/database (and " + Switch.USER + ", " + Switch.PASSWORD + ").";

    private final String url;
    private final String user;
    private final String password;

    SharedPostgres(String url, String user, String password) {
        this.url = url;
        this.user = user;
        this.password = password;
    }

    static TestPostgres get() {
        return Holder.ATTEMPT.server();
    }

    @Override
    public String url() {
        return url;
    }

    @Override
    public String user() {
        return user;
    }

    @Override
    public String password() {
        return password;
    }

    @Override
    public String toString() {
        return "TestPostgres[" + url + "]";
    }

    private static SharedPostgres start() {
        String choice = Switch.read(Switch.CHOICE, "").toLowerCase(Locale.ROOT);
        return switch (choice) {
            case "" -> firstThatAnswers();
            case "url" -> external();
            case "docker" -> DockerServer.start();
            case "embedded" -> embedded();
            default ->
                throw new IllegalStateException(Switch.CHOICE + " must be url, docker or embedded, got " + choice);
        };
    }

    private static SharedPostgres firstThatAnswers() {
        if (Switch.read(Switch.URL) != null) {
            return external();
        }
        if (DockerServer.answers()) {
            try {
                return DockerServer.start();
            } catch (RuntimeException e) {
                LOG.warn("Docker answers, but its PostgreSQL did not start; the embedded one is used instead", e);
            }
        }
        return embedded();
    }

    private static SharedPostgres external() {
        String url = Switch.read(Switch.URL);
        if (url == null) {
            throw new IllegalStateException(Switch.CHOICE + "=url needs the system property " + Switch.URL
                    + " or the environment variable " + Switch.variable(Switch.URL));
        }
        return new SharedPostgres(url, Switch.read(Switch.USER, "postgres"), Switch.read(Switch.PASSWORD, "postgres"));
    }

    private static SharedPostgres embedded() {
        try {
            EmbeddedServer server = EmbeddedServer.started(new PostgresOptions());
            return new SharedPostgres(server.url(), EmbeddedServer.USER, EmbeddedServer.PASSWORD);
        } catch (RuntimeException e) {
            throw new IllegalStateException("The embedded PostgreSQL did not start: " + e.getMessage() + OTHER_WAYS, e);
        }
    }

    /** What came of the one attempt, so that a second caller sees the same error and not a NoClassDefFoundError. */
    private record Attempt(
            @Nullable SharedPostgres result, @Nullable RuntimeException failure) {

        static Attempt make() {
            try {
                SharedPostgres server = start();
                LOG.info("Tests use PostgreSQL at {}", server.url());
                return new Attempt(server, null);
            } catch (RuntimeException e) {
                return new Attempt(null, e);
            }
        }

        SharedPostgres server() {
            if (result == null) {
                throw new IllegalStateException(failure == null ? null : failure.getMessage(), failure);
            }
            return result;
        }
    }

    private static final class Holder {
        static final Attempt ATTEMPT = Attempt.make();
    }
}
