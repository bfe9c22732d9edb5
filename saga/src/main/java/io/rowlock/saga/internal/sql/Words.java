package io.rowlock.saga.internal.sql;

import java.util.Locale;

/** Enums as their columns spell them. */
final class Words {
    private Words() {}

    static String of(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    static <E extends Enum<E>> E read(Class<E> type, String word) {
        return Enum.valueOf(type, word.toUpperCase(Locale.ROOT));
    }
}
