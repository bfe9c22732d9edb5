package io.rowlock.testkit.postgres;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The properties that say where the shared server comes from: a system property, else an environment variable. */
final class Switch {

    static final String CHOICE = "rowlock.test.postgres";
    static final String URL = "rowlock.test.jdbc-url";
    static final String USER = "rowlock.test.jdbc-user";
    static final String PASSWORD = "rowlock.test.jdbc-password";
    static final String IMAGE = "rowlock.test.postgres-image";

    private Switch() {}

    static @Nullable String read(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            value = System.getenv(variable(name));
        }
        return value == null || value.isBlank() ? null : value.strip();
    }

    static String read(String name, String otherwise) {
        String value = read(name);
        return value == null ? otherwise : value;
    }

    static String variable(String property) {
        return property.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }
}
