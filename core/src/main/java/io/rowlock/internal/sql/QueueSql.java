package io.rowlock.internal.sql;

import io.rowlock.job.By;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.QueueLimits.Rate;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The settings of queues, for all workers. Locks: the queue's row. Index: its primary key. */
public final class QueueSql {
    static final String FIND = """
            /* rowlock:find-queue */
            SELECT paused_at, paused_by, dead_head FROM rowlock_queue WHERE queue = $1
            """;

    /* In the order of the primary key. Rows: at most 1,000. */
    static final String ALL = """
            /* rowlock:all-queues */
            SELECT queue, paused_at, paused_by, dead_head FROM rowlock_queue ORDER BY queue LIMIT 1000
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

    static final String LIMIT = """
            /* rowlock:limit-queue */
            INSERT INTO rowlock_queue (queue, running, rate, rate_per, key_running, key_rate, key_rate_per)
            VALUES ($1, $2, $3, $4::bigint * interval '1 millisecond', $5, $6, $7::bigint * interval '1 millisecond')
            ON CONFLICT (queue) DO UPDATE
            SET running = excluded.running, rate = excluded.rate, rate_per = excluded.rate_per,
                key_running = excluded.key_running, key_rate = excluded.key_rate, key_rate_per = excluded.key_rate_per
            """;

    /* Rows: one. */
    static final String RECORD = """
            /* rowlock:record-queue-operation */
            INSERT INTO rowlock_operation (who, why, what, queue) VALUES ($1, $2, $3, $4)
            """;

    /* Locks: none. Index: the primary key, once per queue. */
    static final String LIMITS = """
            /* rowlock:limits-of-queues */
            SELECT queue, running, rate, (extract(epoch FROM rate_per) * 1000)::bigint AS rate_per,
                   key_running, key_rate, (extract(epoch FROM key_rate_per) * 1000)::bigint AS key_rate_per
            FROM rowlock_queue
            WHERE queue = ANY($1::text[])
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

    /** The queues that have a row, in the order of their names. */
    public Map<String, QueueRow> all(Connection connection) throws SQLException {
        Map<String, QueueRow> all = new LinkedHashMap<>();
        new Sql(names, ALL)
                .query(
                        connection,
                        row -> all.put(
                                row.getString("queue"),
                                new QueueRow(
                                        Sql.instant(row, "paused_at"),
                                        row.getString("paused_by"),
                                        row.getString("dead_head"))));
        return all;
    }

    /** Says who did what to a queue, and why. */
    public void record(Connection connection, String what, String queue, By by) throws SQLException {
        new Sql(names, RECORD).update(connection, by.who(), by.why(), what, queue);
    }

    /** What waits in the queues. */
    public WaitingSql waiting() {
        return new WaitingSql(names);
    }

    /** True if the queue was not paused before. */
    public boolean pause(Connection connection, String queue, String who) throws SQLException {
        return new Sql(names, PAUSE).update(connection, queue, who) == 1;
    }

    /** True if the queue was paused before. */
    public boolean resume(Connection connection, String queue) throws SQLException {
        return new Sql(names, RESUME).update(connection, queue) == 1;
    }

    /** Sets all limits of a queue. */
    public void limit(Connection connection, String queue, QueueLimits limits) throws SQLException {
        Rate rate = limits.rate();
        Rate keyRate = limits.ratePerKey();
        new Sql(names, LIMIT)
                .update(
                        connection,
                        queue,
                        limits.running(),
                        rate == null ? null : rate.jobs(),
                        rate == null ? null : rate.per().toMillis(),
                        limits.runningPerKey(),
                        keyRate == null ? null : keyRate.jobs(),
                        keyRate == null ? null : keyRate.per().toMillis());
    }

    /** The limits of those queues that have a row. */
    public Map<String, QueueLimits> limits(Connection connection, Collection<String> queues) throws SQLException {
        Map<String, QueueLimits> limits = new HashMap<>();
        new Sql(names, LIMITS)
                .query(
                        connection,
                        row -> limits.put(
                                row.getString("queue"),
                                new QueueLimits(
                                        row.getObject("running", Integer.class),
                                        rate(row, "rate", "rate_per"),
                                        row.getObject("key_running", Integer.class),
                                        rate(row, "key_rate", "key_rate_per"))),
                        Sql.texts(queues));
        return limits;
    }

    private static @Nullable Rate rate(ResultSet row, String jobs, String per) throws SQLException {
        Integer number = row.getObject(jobs, Integer.class);
        return number == null ? null : new Rate(number, Duration.ofMillis(row.getLong(per)));
    }

    public void deadHead(Connection connection, String queue, String policy) throws SQLException {
        new Sql(names, DEAD_HEAD).update(connection, queue, policy);
    }
}
