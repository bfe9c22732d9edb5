package io.rowlock.saga.internal.engine;

import io.rowlock.job.By;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobKind;
import io.rowlock.job.Outbox;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.internal.sql.WishSql;
import io.rowlock.saga.internal.sql.WishSql.Held;
import io.rowlock.saga.internal.sql.WishSql.OfKey;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings signals and cancels to sagas: a job writes them under the saga's lock and makes its driver due, so that none is
 * overlooked. What somebody has locked is tried again soon.
 */
final class Wishes {
    /** Its payload: what is wished ({@code signal} or {@code cancel}), {@code saga} or {@code key}, which, a name, more. */
    static final JobKind<String[]> KIND = JobKind.named("rowlock-saga-wish", String[].class);

    static final RetryPolicy RETRY =
            RetryPolicy.exponential(Duration.ofMillis(500)).max(Duration.ofMinutes(30));

    private static final Logger LOG = LoggerFactory.getLogger(Wishes.class);
    private static final Duration SOON = Duration.ofMillis(100);
    private static final String SIGNAL = "signal";
    private static final String CANCEL = "cancel";

    private final WishSql sql;
    private final Outbox outbox;
    private final String queue;
    private final Runnable due;
    private final Restarts restarts;

    /**
     * @param due tells workers that a driver has become due
     * @param restarts turns sagas around that are stuck
     */
    Wishes(WishSql sql, Outbox outbox, String queue, Runnable due, Restarts restarts) {
        this.sql = sql;
        this.outbox = outbox;
        this.queue = queue;
        this.due = due;
        this.restarts = restarts;
    }

    /** Writes the job that brings a signal. */
    void signal(Connection connection, String signal, SagaTarget target, String payload) {
        String id = target.id();
        enqueue(
                connection,
                id == null
                        ? new String[] {SIGNAL, "key", String.valueOf(target.businessKey()), signal, payload}
                        : new String[] {SIGNAL, "saga", id, signal, payload});
    }

    /** Writes the job that brings a cancel. */
    void cancel(Connection connection, String saga, By by) {
        enqueue(connection, new String[] {CANCEL, "saga", saga, by.who(), by.why()});
    }

    private void enqueue(Connection connection, String[] wish) {
        outbox.enqueue(connection, KIND, wish, job -> job.queue(queue).subject(wish[2]));
    }

    /** Makes due what waits to be brought to a saga, as what was sent before it was there; true if there is something. */
    boolean hurry(Connection connection, String saga, @Nullable String businessKey) throws SQLException {
        boolean some = sql.hurry(connection, businessKey == null ? List.of(saga) : List.of(saga, businessKey)) > 0;
        if (some) {
            due.run();
        }
        return some;
    }

    /** Handles such a job: in one transaction the saga is locked and told, its driver made due, and the job completed. */
    void bring(String[] wish, JobContext job, TransactionRunner<Connection> transactions) throws Exception {
        if (wish.length != 5) {
            throw new PermanentFailure("the payload is none of a signal or a cancel");
        }
        transactions.run(new TransactionRunner.Work<>() {
            @Override
            public void begun(Connection connection) {}

            @Override
            public void handle(Connection connection) throws SQLException {
                bring(wish, connection);
            }

            @Override
            public void completing(Connection connection) {
                job.completeIn(connection);
            }
        });
        due.run();
    }

    private void bring(String[] wish, Connection connection) throws SQLException {
        if (wish[0].equals(CANCEL)) {
            if (cancelNow(connection, wish[2], new By(wish[3], wish[4])) == null) {
                throw new Snooze(SOON);
            }
            return;
        }
        List<String> sagas = wish[1].equals("saga") ? List.of(wish[2]) : receivers(connection, wish[2]);
        if (sagas.isEmpty()) {
            throw new IllegalStateException("no saga under the business key " + wish[2] + " yet");
        }
        for (String saga : sagas.stream().sorted().toList()) {
            signalNow(connection, saga, wish[3], wish[4]);
        }
    }

    /** The unfinished ones; where there is none, the one that finished last: it was late. */
    private List<String> receivers(Connection connection, String key) throws SQLException {
        List<OfKey> all = sql.ofKey(connection, key);
        List<String> open = all.stream().filter(OfKey::open).map(OfKey::id).toList();
        return open.isEmpty() ? all.stream().map(OfKey::id).limit(1).toList() : open;
    }

    private void signalNow(Connection connection, String saga, String name, String payload) throws SQLException {
        Held held = sql.lock(connection, saga).orElse(null);
        if (held == null) {
            if (sql.exists(connection, saga)) {
                throw new Snooze(SOON);
            } else if (SagaKeys.isChildSignal(name)) {
                LOG.info("A child has ended whose parent is not there any more (saga={})", saga);
                return;
            }
            throw new IllegalStateException("no saga " + saga + " yet");
        }
        if (!sql.signal(connection, saga, name, payload)) {
            throw new PermanentFailure("saga " + saga + " has a thousand signals already");
        }
        wake(connection, held);
    }

    private void wake(Connection connection, Held held) throws SQLException {
        if (held.driver() != 0 && !sql.wake(connection, held.driver())) {
            throw new Snooze(SOON);
        }
    }

    /** Null if somebody has the rows locked: to be tried again, in a new transaction. */
    @Nullable
    SagaCancellation cancelNow(Connection connection, String saga, By by) throws SQLException {
        Optional<Held> held = sql.lock(connection, saga);
        if (held.isEmpty()) {
            return sql.exists(connection, saga) ? null : SagaCancellation.UNKNOWN;
        }
        SagaStatus status = held.get().status();
        if (status.finished()) {
            return SagaCancellation.ALREADY_FINISHED;
        } else if (held.get().pivoted()) {
            return SagaCancellation.ONLY_FORWARD;
        } else if (status == SagaStatus.STUCK) {
            restarts.cancelStuck(connection, saga, by);
            restarts.note(connection, CANCEL, saga, by);
            return SagaCancellation.ACCEPTED;
        } else if (status != SagaStatus.RUNNING) {
            return SagaCancellation.ALREADY_COMPENSATING;
        }
        if (sql.cancel(connection, saga, by.who() + ": " + by.why())) {
            restarts.note(connection, CANCEL, saga, by);
        }
        return held.get().driver() == 0 || sql.wake(connection, held.get().driver()) ? SagaCancellation.ACCEPTED : null;
    }
}
