package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The settings of queues, for all workers. Locks: the queue's row. Index: its primary key. */
public final class QueueSql {
    static final String FIND = """
            /* rowlock:find-queue */
            SELECT paused_at, paused_by, dead_head FROM rowlock_queue WHERE queue = $1
            """;

    static final String PAUSE = """
            /* rowlock:pause-queue */
            INSERT INTO rowlock_queue (queue, paused_at, paused_by)
            VALUES ($1, clock_timestamp(), $2)
            ON CONFLICT (queue) DO UPDATE SET paused_at = excluded.paused_at, paused_by = excluded.paused_by
            WHERE rowlock_queue.paused_at IS NULL
            """;

    static final String RESUME = """
            /* rowlock:resume-queue */
            UPDATE rowlock_queue SET paused_at = NULL, paused_by = NULL WHERE queue = $1 AND paused_at IS NOT NULL
            """;

    static final String DEAD_HEAD = """
            /* rowlock:dead-head-policy */
            INSERT INTO rowlock_queue (queue, dead_head)
            VALUES ($1, $2)
            ON CONFLICT (queue) DO UPDATE SET dead_head = excluded.dead_head
            """;

    private final Names names;

    public QueueSql(Names names) {
        this.names = names;
    }

    /** A queue's row. */
    public record QueueRow(
            @Nullable Instant pausedAt, @Nullable String pausedBy, String deadHead) {}

    public Optional<QueueRow> find(Connection connection, String queue) throws SQLException {
        return new Sql(names, FIND)
                        .query(
                                connection,
                                row -> new QueueRow(
                                        Sql.instant(row, "paused_at"),
                                        row.getString("paused_by"),
                                        row.getString("dead_head")),
                                queue)
                        .stream()
                        .findFirst();
    }

    /** True if the queue was not paused before. */
    public boolean pause(Connection connection, String queue, String who) throws SQLException {
        return new Sql(names, PAUSE).update(connection, queue, who) == 1;
    }

    /** True if the queue was paused before. */
    public boolean resume(Connection connection, String queue) throws SQLException {
        return new Sql(names, RESUME).update(connection, queue) == 1;
    }

    public void deadHead(Connection connection, String queue, String policy) throws SQLException {
        new Sql(names, DEAD_HEAD).update(connection, queue, policy);
    }
}
