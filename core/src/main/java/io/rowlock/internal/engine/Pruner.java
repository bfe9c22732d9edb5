package io.rowlock.internal.engine;

import io.rowlock.internal.sql.PruneSql;
import io.rowlock.internal.sql.PruneSql.Cursor;
import io.rowlock.internal.sql.PruneSql.Ended;
import io.rowlock.internal.sql.PruneSql.Pruned;
import io.rowlock.worker.Retention;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Deletes rows past their retention, class by class in small batches, one process at a time: finished jobs of the worker's own
 * kinds, acknowledged alerts, who held which lease, expired idempotency keys, and failures and operations where told. Nothing that is not
 * finished is ever deleted.
 */
final class Pruner {
    private static final int ROWS = 1_000;
    private static final long BETWEEN_PASSES = TimeUnit.SECONDS.toNanos(30);
    private static final long BETWEEN_STEPS = TimeUnit.MILLISECONDS.toNanos(100);

    private final EngineConnection connection;
    private final List<Batch> classes;
    private int at;
    private @Nullable Cursor cursor;

    /** Deletes what is old behind the cursor; null: from the beginning. */
    @FunctionalInterface
    private interface Batch {
        Optional<Pruned> over(Connection open, @Nullable Cursor from) throws SQLException;
    }

    Pruner(EngineConnection connection, PruneSql sql, Set<String> kinds, Retention retention) {
        this.connection = connection;
        this.classes = classes(sql, kinds, retention);
    }

    private static List<Batch> classes(PruneSql sql, Set<String> kinds, Retention retention) {
        List<Batch> classes = new ArrayList<>();
        classes.add((open, from) -> sql.jobs(open, kinds, Ended.completed(retention.completed()), from, ROWS));
        classes.add((open, from) -> sql.jobs(open, kinds, Ended.cancelled(retention.cancelled()), from, ROWS));
        add(classes, retention.dead(), (open, time, from) -> sql.jobs(open, kinds, Ended.dead(time), from, ROWS));
        classes.add((open, from) -> sql.idempotencyKeys(open, ROWS));
        classes.add((open, from) -> sql.alerts(open, retention.alerts(), ROWS));
        add(classes, retention.failures(), (open, time, from) -> sql.failures(open, time, ROWS));
        add(classes, retention.operations(), (open, time, from) -> sql.operations(open, time, from, ROWS));
        classes.add((open, from) -> sql.leases(open, retention.leases(), from, ROWS));
        return classes;
    }

    /** A class that is only pruned where told. */
    @FunctionalInterface
    private interface Timed {
        Optional<Pruned> over(Connection open, Duration time, @Nullable Cursor from) throws SQLException;
    }

    private static void add(List<Batch> classes, Optional<Duration> retention, Timed batch) {
        retention.ifPresent(time -> classes.add((open, from) -> batch.over(open, time, from)));
    }

    /**
     * One batch; a short pause while there is more to look at, a long one at the end of a pass through all classes. A class
     * that fails is left for the next pass, and keeps nothing from the others.
     */
    long step() throws SQLException {
        Batch batch = classes.get(at);
        Cursor from = cursor;
        cursor = null;
        try {
            Optional<Pruned> pruned = connection.call(open -> batch.over(open, from));
            if (pruned.isPresent() && pruned.get().seen() == ROWS) {
                cursor = pruned.get().next();
            }
        } finally {
            at = cursor == null ? (at + 1) % classes.size() : at;
        }
        return at == 0 && cursor == null ? BETWEEN_PASSES : BETWEEN_STEPS;
    }
}
