package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Option;

/** Where the tables are, and as whom. */
final class Target {
    private static final int CONNECT_SECONDS = 10;
    private static final int ANSWER_SECONDS = 120;

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "jdbc:postgresql://host/database; else ROWLOCK_URL, else PGHOST, PGPORT and PGDATABASE.")
    private @Nullable String url;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "The role; else PGUSER, else the operating system's user.")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "A file whose first line is the password; else ROWLOCK_PASSWORD, PGPASSWORD, ~/.pgpass.")
    private @Nullable Path passwordFile;

    @Option(names = "--ask-password", description = "Ask for the password.")
    private boolean ask;

    @Option(names = "--schema", paramLabel = "NAME", description = "The schema of the tables; 'public' by default.")
    private String schema = "public";

    @Option(
            names = "--prefix",
            paramLabel = "NAME",
            description = "What the tables' names begin with; 'rowlock_' by default.")
    private String prefix = "rowlock_";

    /** Sends nothing to the server yet. */
    Rowlock rowlock(Surroundings around) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(url(around));
        source.setApplicationName("rowlock-cli");
        source.setConnectTimeout(CONNECT_SECONDS);
        source.setSocketTimeout(ANSWER_SECONDS);
        source.setTcpKeepAlive(true);
        boolean inUrl = source.getUser() != null;
        if (user != null || !inUrl) {
            source.setUser(user == null ? around.variable("PGUSER").orElse(around.user()) : user);
        }
        password(around).ifPresent(source::setPassword);
        return Rowlock.builder()
                .dataSource(source)
                .schema(schema)
                .tablePrefix(prefix)
                .build();
    }

    private String url(Surroundings around) {
        String given = url == null ? around.variable("ROWLOCK_URL").orElse("") : url;
        if (given.isEmpty()) {
            String host = around.variable("PGHOST").orElse("localhost");
            String port = around.variable("PGPORT").orElse("5432");
            String database = around.variable("PGDATABASE")
                    .orElse(user == null ? around.variable("PGUSER").orElse(around.user()) : user);
            given = "jdbc:postgresql://" + host + ':' + port + '/'
                    + URLEncoder.encode(database, StandardCharsets.UTF_8).replace("+", "%20")
                    + around.variable("PGSSLMODE")
                            .map(mode -> "?sslmode=" + mode)
                            .orElse("");
        } else if (given.startsWith("postgresql://")) {
            given = "jdbc:" + given;
        }
        if (!given.startsWith("jdbc:postgresql:")) {
            throw new InvalidUseException(
                    "The URL must begin with jdbc:postgresql:, as in" + " jdbc:postgresql://localhost/shop");
        }
        if (given.matches("(?i).*[?&]password=.*")) {
            throw new InvalidUseException("The URL holds a password, which others on this machine can see; put it into"
                    + " --password-file, ROWLOCK_PASSWORD, PGPASSWORD or ~/.pgpass");
        }
        return given;
    }

    /** Empty: the driver looks into ~/.pgpass, and the server may ask for none. */
    private Optional<String> password(Surroundings around) {
        if (passwordFile != null) {
            try {
                return Files.readString(passwordFile).lines().findFirst();
            } catch (IOException e) {
                throw new InvalidUseException(
                        "The password cannot be read from " + passwordFile + ": " + e.getMessage(), e);
            }
        }
        if (ask) {
            String typed = around.prompt().get();
            if (typed == null) {
                throw new InvalidUseException("There is no terminal to ask for the password; use --password-file");
            }
            return Optional.of(typed);
        }
        return around.variable("ROWLOCK_PASSWORD").or(() -> around.variable("PGPASSWORD"));
    }
}
