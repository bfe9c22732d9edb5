package io.rowlock.cli;

import java.io.Console;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a command finds around it.
 *
 * @param environment the environment's variables
 * @param user who runs it
 * @param prompt asks for a password without showing it; null: there is nobody to ask
 */
record Surroundings(Map<String, String> environment, String user, Supplier<@Nullable String> prompt) {
    static Surroundings ofThisProcess() {
        return new Surroundings(System.getenv(), System.getProperty("user.name", "unknown"), Surroundings::ask);
    }

    @SuppressWarnings("SystemConsoleNull") // newer JDKs have one that reads standard input: a pipe may answer there
    private static @Nullable String ask() {
        Console console = System.console();
        char[] typed = console == null ? null : console.readPassword("Password: ");
        return typed == null ? null : new String(typed);
    }

    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
    }
}
