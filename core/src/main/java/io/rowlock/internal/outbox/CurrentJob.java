package io.rowlock.internal.outbox;

import io.rowlock.internal.sql.Names;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The job whose handler is at work on this thread: what that writes is caused by it, and stands one deeper in the chain.
 * Jobs that are written on threads of a handler's own begin a new chain.
 */
public final class CurrentJob implements AutoCloseable {
    private static final String DEPTH = "rowlock-depth";
    private static final String CAUSE = "rowlock-cause";
    private static final ThreadLocal<@Nullable CurrentJob> CURRENT = new ThreadLocal<>();

    private final @Nullable CurrentJob outer;
    private final Names tables;
    private final String kind;
    private final long id;
    private final @Nullable String headers;

    private CurrentJob(@Nullable CurrentJob outer, Names tables, String kind, long id, @Nullable String headers) {
        this.outer = outer;
        this.tables = tables;
        this.kind = kind;
        this.id = id;
        this.headers = headers;
    }

    /**
     * From now on until it is closed, on this thread.
     *
     * @param tables where the job stands: one process may work on several
     * @param headers the headers' column of the job
     */
    public static CurrentJob enter(Names tables, String kind, long id, @Nullable String headers) {
        CurrentJob entered = new CurrentJob(CURRENT.get(), tables, kind, id, headers);
        CURRENT.set(entered);
        return entered;
    }

    /** The task for another thread: what it writes there is caused by the job that is at work on this one. */
    public static Runnable carriedBy(Runnable task) {
        CurrentJob current = CURRENT.get();
        if (current == null) {
            return task;
        }
        return () -> {
            CurrentJob there = enter(current.tables, current.kind, current.id, current.headers);
            try {
                task.run();
            } finally {
                there.close();
            }
        };
    }

    @Override
    public void close() {
        if (outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(outer);
        }
    }

    /** What is written on this thread now gets these headers; none outside of handlers. */
    static Map<String, String> headersNow() {
        CurrentJob current = CURRENT.get();
        return current == null
                ? Map.of()
                : Map.of(DEPTH, String.valueOf(depth(current.headers) + 1), CAUSE, current.kind + '/' + current.id);
    }

    /** Whether a handler of this job is at work on this thread. */
    public static boolean isAtWork(Names tables, long id) {
        CurrentJob current = CURRENT.get();
        return current != null && current.id == id && current.tables.equals(tables);
    }

    /** How many jobs caused each other until this one was written: 0 for one that was not written by a handler. */
    public static int depth(@Nullable String headers) {
        if (headers == null || !headers.contains(DEPTH)) {
            return 0;
        }
        try {
            return Math.max(
                    0,
                    Math.min(1_000_000, Integer.parseInt(Headers.read(headers).getOrDefault(DEPTH, "0"))));
        } catch (NumberFormatException somebodysOwn) {
            return 0;
        }
    }

    /** Kind and id of the job whose handler wrote one; null if none did. */
    public static @Nullable String cause(@Nullable String headers) {
        return Headers.read(headers).get(CAUSE);
    }
}
