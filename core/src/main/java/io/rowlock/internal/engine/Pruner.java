package io.rowlock.internal.engine;

import io.rowlock.internal.sql.PruneSql;
import io.rowlock.internal.sql.PruneSql.Cursor;
import io.rowlock.internal.sql.PruneSql.Pruned;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Deletes completed and cancelled jobs of the worker's own kinds past their retention, in small batches; one process at a time.
 * Nothing else is ever deleted: dead letters stay until a person decides.
 */
final class Pruner {
    private static final int ROWS = 1_000;
    private static final long BETWEEN_PASSES = TimeUnit.SECONDS.toNanos(30);
    private static final long BETWEEN_STEPS = TimeUnit.MILLISECONDS.toNanos(100);

    private final EngineConnection connection;
    private final PruneSql sql;
    private final Set<String> kinds;
    private final Duration retention;
    private Cursor cursor = Cursor.COMPLETED;

    Pruner(EngineConnection connection, PruneSql sql, Set<String> kinds, Duration retention) {
        this.connection = connection;
        this.sql = sql;
        this.kinds = kinds;
        this.retention = retention;
    }

    /** One batch; a short pause while there is more to look at, a long one at the end of a pass through both states. */
    long step() throws SQLException {
        Optional<Pruned> pruned = connection.call(open -> sql.prune(open, kinds, retention, cursor, ROWS));
        boolean more = pruned.isPresent() && pruned.get().seen() == ROWS;
        boolean end = !more && cursor.state().equals(Cursor.CANCELLED.state());
        cursor = more ? pruned.get().next() : end ? Cursor.COMPLETED : Cursor.CANCELLED;
        return end ? BETWEEN_PASSES : BETWEEN_STEPS;
    }
}
