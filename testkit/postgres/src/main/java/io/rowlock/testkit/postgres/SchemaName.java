package io.rowlock.testkit.postgres;

import java.util.Locale;
import java.util.UUID;

/** Names {@code t_<label>_<random>}: lower case, unquoted, at most 40 characters, different each time. */
final class SchemaName {

    private static final int LONGEST = 40;
    private static final int RANDOM = 8;

    private SchemaName() {}

    static String of(String label) {
        String word = label.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "_");
        int room = LONGEST - "t_".length() - "_".length() - RANDOM;
        String cut = word.length() > room ? word.substring(0, room) : word;
        return "t_" + cut + "_" + UUID.randomUUID().toString().substring(0, RANDOM);
    }

    static String check(String name) {
        if (!name.matches("t_[a-z0-9_]{1,38}")) {
            throw new IllegalArgumentException("Not the name of a test schema: " + name);
        }
        return name;
    }
}
