package io.rowlock.internal.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/** Cuts what is to be written into statements of at most 1,000 rows and 8 MiB of payload (promise P14). */
public final class Statements {
    private static final int MAX_ROWS = 1_000;
    private static final long MAX_BYTES = 8L << 20;

    private Statements() {}

    /** The parts in their order, as views; a single row above the bytes stands alone. */
    public static <T> List<List<T>> of(List<T> rows, ToIntFunction<T> bytes) {
        List<List<T>> parts = new ArrayList<>();
        int from = 0;
        while (from < rows.size()) {
            int to = end(rows, from, bytes);
            parts.add(rows.subList(from, to));
            from = to;
        }
        return parts;
    }

    private static <T> int end(List<T> rows, int from, ToIntFunction<T> bytesOf) {
        long bytes = 0;
        int to = from;
        while (to < rows.size() && to - from < MAX_ROWS) {
            bytes += bytesOf.applyAsInt(rows.get(to));
            if (bytes > MAX_BYTES && to > from) {
                break;
            }
            to++;
        }
        return to;
    }
}
