package io.rowlock.testkit.postgres;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The settings of an embedded server: those of {@code postgresql.conf}, by their PostgreSQL names.
 *
 * <p>Defaults, made for speed: {@code fsync=off}, {@code synchronous_commit=off}, {@code full_page_writes=off},
 * {@code max_connections=300}; everything else is PostgreSQL's own default. Not safe for use by several threads.
 */
public final class PostgresOptions {

    private static final Pattern NAME = Pattern.compile("[a-zA-Z_][a-zA-Z0-9_.]*");

    private final Map<String, String> settings = new LinkedHashMap<>();

    PostgresOptions() {
        settings.put("max_connections", "300");
        settings.put("fsync", "off");
        settings.put("synchronous_commit", "off");
        settings.put("full_page_writes", "off");
    }

    /**
     * Makes a commit survive a crash, as in production: {@code fsync}, {@code synchronous_commit} and {@code
     * full_page_writes} on. Tests that kill the server need it; each commit then waits for the disk.
     *
     * @return this
     */
    public PostgresOptions durable() {
        return setting("fsync", "on").setting("synchronous_commit", "on").setting("full_page_writes", "on");
    }

    /**
     * Sets one setting; a later call for the same name wins.
     *
     * @param name a name that PostgreSQL knows, for example {@code wal_level}; an unknown one keeps the server from
     *     starting
     * @param value its value with its unit, for example {@code logical} or {@code 200ms}; quoting is not needed
     * @return this
     * @throws IllegalArgumentException if the name is no name, or is the port or the address, which the server chooses
     */
    public PostgresOptions setting(String name, String value) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("Not the name of a PostgreSQL setting: " + name);
        }
        if (name.equals("port") || name.equals("listen_addresses")) {
            throw new IllegalArgumentException(name + " is chosen by the server itself; ask its url() or port()");
        }
        settings.put(name, value);
        return this;
    }

    Map<String, String> settings() {
        return new LinkedHashMap<>(settings);
    }
}
