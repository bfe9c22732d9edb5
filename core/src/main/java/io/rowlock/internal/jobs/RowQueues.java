package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.internal.sql.QueueSql;
import io.rowlock.internal.sql.QueueSql.QueueRow;
import io.rowlock.internal.sql.WaitingSql.Lane;
import io.rowlock.job.BlockedKey;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.JobOptions;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.QueueView;
import io.rowlock.job.Queues;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settings of queues as rows. */
public final class RowQueues implements Queues {
    private static final Logger LOG = LoggerFactory.getLogger(RowQueues.class);

    private static final int MOST_LANES = 500;
    private static final int LONGEST_PAGE = 1_000;

    private final QueueSql sql;
    private final ConnectionSource connections;
    private final AccessPolicy policy;
    private final Runnable changed;

    /**
     * Queues on connections of the data source.
     *
     * @param policy asked before each change
     * @param changed called when jobs may be claimed that could not be before, or not as they could
     */
    public RowQueues(QueueSql sql, ConnectionSource connections, AccessPolicy policy, Runnable changed) {
        this.sql = sql;
        this.connections = connections;
        this.policy = policy;
        this.changed = changed;
    }

    @Override
    public boolean pause(String queue, By by) {
        check(queue, by);
        boolean begun = change(Action.PAUSE, queue, by, open -> sql.pause(open, queue, by.who()));
        if (begun) {
            LOG.info("Queue paused (queue={}, by={}): {}", queue, by.who(), by.why());
        }
        return begun;
    }

    @Override
    public boolean resume(String queue, By by) {
        check(queue, by);
        boolean ended = change(Action.RESUME, queue, by, open -> sql.resume(open, queue));
        if (ended) {
            LOG.info("Queue resumed (queue={}, by={}): {}", queue, by.who(), by.why());
            changed.run();
        }
        return ended;
    }

    @Override
    public Optional<Pause> pauseOf(String queue) {
        checkName(queue);
        return perform(open -> sql.find(open, queue))
                .filter(row -> row.pausedAt() != null)
                .map(row -> new Pause(Objects.requireNonNull(row.pausedAt()), Objects.requireNonNull(row.pausedBy())));
    }

    @Override
    public void deadHead(String queue, DeadHead policy, By by) {
        check(queue, by);
        if (policy == null) {
            throw new InvalidUseException("The policy for dead heads must not be null");
        }
        change(Action.DEAD_HEAD, queue, by, open -> {
            sql.deadHead(open, queue, policy.text());
            return true;
        });
        LOG.info("Policy for dead heads set (queue={}, policy={}, by={}): {}", queue, policy, by.who(), by.why());
    }

    @Override
    public void limit(String queue, QueueLimits limits, By by) {
        check(queue, by);
        if (limits == null) {
            throw new InvalidUseException("The limits must not be null; QueueLimits.none() takes them away");
        }
        change(Action.LIMIT, queue, by, open -> {
            sql.limit(open, queue, limits);
            return true;
        });
        LOG.info("Queue limited (queue={}, limits={}, by={}): {}", queue, limits, by.who(), by.why());
        changed.run();
    }

    @Override
    public QueueLimits limitsOf(String queue) {
        checkName(queue);
        return perform(open -> sql.limits(open, List.of(queue))).getOrDefault(queue, QueueLimits.none());
    }

    @Override
    public List<QueueView> all() {
        return perform(open -> {
            Map<String, QueueRow> rows = sql.all(open);
            Map<String, List<Lane>> waiting = sql.waiting().lanes(open, MOST_LANES, Duration.ZERO).stream()
                    .collect(Collectors.groupingBy(Lane::queue));
            Map<String, QueueLimits> limits = sql.limits(open, rows.keySet());
            Set<String> queues = new TreeSet<>(rows.keySet());
            queues.addAll(waiting.keySet());
            return queues.stream()
                    .map(queue -> view(
                            queue,
                            rows.get(queue),
                            limits.getOrDefault(queue, QueueLimits.none()),
                            waiting.getOrDefault(queue, List.of())))
                    .toList();
        });
    }

    @Override
    public List<BlockedKey> blocked(@Nullable String queue, @Nullable BlockedKey after, int most) {
        if (queue != null) {
            checkName(queue);
        }
        if (most < 1 || most > LONGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LONGEST_PAGE + ", got " + most);
        }
        return perform(open -> queue == null
                ? sql.waiting().blocked(open, after, most)
                : sql.waiting().blockedOf(open, queue, after, most));
    }

    private static QueueView view(String queue, @Nullable QueueRow row, QueueLimits limits, List<Lane> lanes) {
        Pause pause = row == null || row.pausedAt() == null
                ? null
                : new Pause(Objects.requireNonNull(row.pausedAt()), Objects.requireNonNull(row.pausedBy()));
        boolean passes = row != null && row.deadHead().equals(DeadHead.PASS.text());
        return new QueueView(
                queue,
                pause,
                passes ? DeadHead.PASS : DeadHead.BLOCK,
                limits,
                lanes.size(),
                lanes.stream()
                        .map(Lane::earliest)
                        .filter(Objects::nonNull)
                        .min(Comparator.naturalOrder())
                        .orElse(null));
    }

    private static void check(String queue, @Nullable By by) {
        checkName(queue);
        if (by == null) {
            throw new InvalidUseException("Say who does it, and why: by must not be null");
        }
    }

    private static void checkName(String queue) {
        new JobOptions().queue(queue);
    }

    @FunctionalInterface
    private interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    /** With a row that says who did it, and why, in the same transaction; where nothing was changed, none. */
    private boolean change(Action action, String queue, By by, OwnTransaction.Work<Boolean> work) {
        Leave.require(policy, Access.of(action, Target.QUEUE, by, queue));
        String what = action.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return perform(connection -> OwnTransaction.run(connection, open -> {
            boolean changed = work.over(open);
            if (changed) {
                sql.record(open, what, queue, by);
            }
            return changed;
        }));
    }

    private <T> T perform(Work<T> work) {
        try (Connection connection = connections.get()) {
            connection.setAutoCommit(true);
            return work.over(connection);
        } catch (SQLException e) {
            throw new DatabaseException("The queue's settings could not be read or changed", e);
        }
    }
}
