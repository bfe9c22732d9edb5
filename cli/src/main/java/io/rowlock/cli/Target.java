package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Where the tables are, and as whom: options that stand anywhere in the command line. */
final class Target {
    private static final int CONNECT_SECONDS = 10;
    private static final int ANSWER_SECONDS = 120;
    private static final Pattern COMMAND = Pattern.compile(
            "\\browlock (?=--schema |--prefix |(?:alerts|checkup|jobs|operations|queues|sagas|schedules|schema) ?\\b)");
    private static final List<String> SSL_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    @Option(
            names = "--url",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "jdbc:postgresql://host/database; else ROWLOCK_URL, else PGHOST, PGPORT and PGDATABASE.")
    private @Nullable String url;

    @Option(
            names = "--user",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "The role; else PGUSER, else the operating system's user.")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "A file whose first line is the password; else ROWLOCK_PASSWORD, PGPASSWORD, ~/.pgpass.")
    private @Nullable Path passwordFile;

    @Option(names = "--ask-password", scope = ScopeType.INHERIT, description = "Ask for the password.")
    private boolean ask;

    @Option(
            names = "--schema",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "The schema of the tables; 'public' by default.")
    private String schema = "public";

    @Option(
            names = "--prefix",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "What the tables' names begin with; 'rowlock_' by default.")
    private String prefix = "rowlock_";

    /** Sends nothing to the server yet. */
    Rowlock rowlock(Surroundings around) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        try {
            source.setURL(url(around));
        } catch (IllegalArgumentException e) {
            throw new InvalidUseException(
                    "The URL cannot be read; it must be as jdbc:postgresql://db.example.org:5432/shop. Look at "
                            + whence(around),
                    e);
        }
        source.setApplicationName("rowlock-cli");
        source.setConnectTimeout(CONNECT_SECONDS);
        source.setSocketTimeout(ANSWER_SECONDS);
        source.setTcpKeepAlive(true);
        boolean inUrl = source.getUser() != null;
        if (user != null || !inUrl) {
            source.setUser(role(around));
        }
        password(around).ifPresent(source::setPassword);
        return Rowlock.builder()
                .dataSource(source)
                .schema(schema)
                .tablePrefix(prefix)
                .build();
    }

    /** Unless the URL names another one. */
    String role(Surroundings around) {
        return user == null ? around.variable("PGUSER").orElse(around.user()) : user;
    }

    /** A command as it is to be typed for the same tables. */
    String typed(String command) {
        return placed("rowlock " + (schema.equals("public") ? "" : "--schema " + word(schema) + ' ')
                + (prefix.equals("rowlock_") ? "" : "--prefix " + word(prefix) + ' ') + command);
    }

    /** A text whose commands say their tables: they also say where the database is and as whom, as this command line does. */
    String placed(String text) {
        StringBuilder place = new StringBuilder("rowlock ");
        add(place, "--url", url);
        add(place, "--user", user);
        add(place, "--password-file", passwordFile == null ? null : passwordFile.toString());
        place.append(ask ? "--ask-password " : "");
        return COMMAND.matcher(text).replaceAll(Matcher.quoteReplacement(place.toString()));
    }

    private static void add(StringBuilder place, String option, @Nullable String value) {
        if (value != null) {
            place.append(option).append(' ').append(word(value)).append(' ');
        }
    }

    /** As one word of a shell. */
    private static String word(String word) {
        return word.matches("[\\w.:/@-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }

    /** Where the tables are looked for. */
    String tables() {
        return "schema " + schema + ", prefix " + prefix;
    }

    /** What says where the database is: what to look at when it is not there. */
    String whence(Surroundings around) {
        if (url != null) {
            return "--url";
        }
        return around.variable("ROWLOCK_URL").isPresent()
                ? "ROWLOCK_URL"
                : "--url, or PGHOST (" + around.variable("PGHOST").orElse("not set: localhost") + "), PGPORT ("
                        + around.variable("PGPORT").orElse("not set: 5432") + ") and PGDATABASE (" + database(around)
                        + ')';
    }

    private String database(Surroundings around) {
        return around.variable("PGDATABASE").orElseGet(() -> role(around));
    }

    private static String sslMode(String mode) {
        if (!SSL_MODES.contains(mode)) {
            throw new InvalidUseException("PGSSLMODE must be one of " + String.join(", ", SSL_MODES) + ", got " + mode);
        }
        return "?sslmode=" + mode;
    }

    private String url(Surroundings around) {
        String given = url == null ? around.variable("ROWLOCK_URL").orElse("") : url;
        if (given.isEmpty()) {
            return "jdbc:postgresql://" + PgHosts.of(around) + '/'
                    + URLEncoder.encode(database(around), StandardCharsets.UTF_8)
                            .replace("+", "%20")
                    + around.variable("PGSSLMODE").map(Target::sslMode).orElse("");
        }
        if (given.startsWith("postgresql://") || given.startsWith("postgres://")) {
            given = "jdbc:postgresql:" + given.substring(given.indexOf("//"));
        }
        if (!given.startsWith("jdbc:postgresql:")) {
            throw new InvalidUseException(
                    "The URL must begin with jdbc:postgresql:, as in jdbc:postgresql://localhost/shop; look at "
                            + whence(around));
        }
        if (given.matches("(?i).*[?&]password=.*") || given.matches("[^/]*//[^/?]*:[^/?]*@.*")) {
            throw new InvalidUseException("The URL holds a password, which others on this machine can see; put it into"
                    + " --password-file, ROWLOCK_PASSWORD, PGPASSWORD or ~/.pgpass");
        }
        if (given.matches("[^/]*//[^/?]*@.*")) {
            throw new InvalidUseException("The URL names a role before its host, which the driver does not read; say it"
                    + " by --user, PGUSER or ?user=");
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
