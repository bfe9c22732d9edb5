package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.outbox.TransactionCheck;
import io.rowlock.internal.sql.CancelRequestSql;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OperationSql;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.job.By;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What every operation needs: the statements, the transaction it is done in, the locks it takes first, and leave to do it.
 *
 * @param bound the caller's connection, or null: each operation is a transaction of its own
 */
record Desk(
        Statements sql,
        ConnectionSource connections,
        @Nullable Connection bound,
        AccessPolicy policy,
        RowJobs.Committed committed) {
    private static final int TRIES = 5;

    /** The statements of operations. */
    record Statements(Names names, OperationSql operations, KeySql keys, RetakeSql retakes, CancelRequestSql requests) {
        static Statements of(Names names) {
            return new Statements(
                    names,
                    new OperationSql(names),
                    new KeySql(names),
                    new RetakeSql(names),
                    new CancelRequestSql(names));
        }
    }

    Desk in(Connection connection) {
        return new Desk(sql, connections, connection, policy, committed);
    }

    /** In the caller's transaction, or in one of its own. */
    <T> T inTransaction(String what, OwnTransaction.Work<T> work) {
        try {
            if (bound != null) {
                TransactionCheck.require(bound, "change a job");
                requireReadCommitted(bound);
                return work.over(bound);
            }
            return inOwn(work);
        } catch (SQLException e) {
            throw new DatabaseException(
                    "The job could not be " + what + "; if another transaction holds its row, try again later", e);
        }
    }

    /** On a connection of the data source. */
    <T> T inOwn(OwnTransaction.Work<T> work) throws SQLException {
        try (Connection connection = connections.get()) {
            return OwnTransaction.run(connection, work);
        }
    }

    /** Under a snapshot of the whole transaction, what the last holder of a key's lock did could not be seen. */
    private void requireReadCommitted(Connection connection) throws SQLException {
        String isolation = sql.operations().isolation(connection);
        if (!isolation.equals("read committed")) {
            throw new InvalidUseException(
                    "Can change a job in a READ COMMITTED transaction only, this one is " + isolation);
        }
    }

    /** Where the job stands, with its key's row locked, if it has a key and that a row. */
    Optional<Place> lock(Connection open, long id) throws SQLException {
        for (int i = 0; i < TRIES; i++) {
            Optional<Place> place = sql.operations().whereIs(open, id);
            OrderingKey key = place.map(Place::key).orElse(null);
            if (key == null) {
                return place;
            }
            sql.operations().lockKey(open, key);
            Optional<Place> now = sql.operations().whereIs(open, id);
            if (now.isEmpty() || key.equals(now.get().key())) {
                return now; // else it was put into another queue before the lock was had
            }
        }
        throw new SQLException("The job is put from queue to queue too fast (job=" + id + ")", "55P03");
    }

    /** Makes rows for keys, at once and for all to see: whoever waits for one in the making would wait for a transaction. */
    void note(List<OrderingKey> keys) throws SQLException {
        if (keys.isEmpty()) {
            return;
        }
        inOwn(open -> {
            sql.keys().note(open, keys);
            return true;
        });
    }

    void require(Action action, By by, Place place) {
        require(action, by, place, place.queue());
    }

    void require(Action action, By by, Place place, String queue) {
        Leave.require(policy, access(action, by, place, queue));
    }

    boolean allows(Action action, By by, Place place, String queue) {
        return policy.allows(access(action, by, place, queue));
    }

    private static Access access(Action action, By by, Place place, String queue) {
        return new Access(action, Target.JOB, by, String.valueOf(place.id()), place.kind(), queue, place.subject());
    }
}
