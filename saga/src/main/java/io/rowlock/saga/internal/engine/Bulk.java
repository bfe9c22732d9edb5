package io.rowlock.saga.internal.engine;

import io.rowlock.error.RowlockException;
import io.rowlock.saga.SagaCursor;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaTally;
import io.rowlock.saga.internal.sql.FindSql;
import io.rowlock.saga.internal.sql.FindSql.Ids;
import io.rowlock.spi.RowlockParts;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does one thing to many sagas: some at a time, in one transaction, in which each may fail alone. Walks from the newest to the oldest, so that it comes to an end whatever is started meanwhile.
 */
final class Bulk {
    private static final Logger LOG = LoggerFactory.getLogger(Bulk.class);
    private static final int BATCH = 100;
    private static final SagaTally NONE = new SagaTally(0, 0, 0, 0);

    private final RowlockParts core;
    private final FindSql finds;
    private final Patience patience;

    Bulk(RowlockParts core, FindSql finds, Patience patience) {
        this.core = core;
        this.finds = finds;
        this.patience = patience;
    }

    /** What is done to each: true if it was, false if it had no need of it, null if somebody has it locked. */
    @FunctionalInterface
    interface Deed {
        @Nullable
        Boolean on(Connection connection, String saga) throws SQLException;
    }

    SagaTally all(String what, SagaQuery query, Deed deed) {
        SagaTally tally = NONE;
        SagaCursor next = null;
        do {
            SagaQuery page =
                    next == null ? query.pageSize(BATCH) : query.pageSize(BATCH).after(next);
            Ids ids = patience.read(what, connection -> finds.find(connection, page));
            if (!ids.ids().isEmpty()) {
                tally = plus(tally, batch(what, ids.ids(), deed));
                core.wake();
            }
            next = ids.next();
        } while (next != null);
        LOG.info("Did to many sagas: {} ({})", what, tally);
        return tally;
    }

    private SagaTally batch(String what, List<String> ids, Deed deed) {
        SagaTally tally = patience.once(what, connection -> {
            SagaTally sum = NONE;
            for (String id : ids.stream().sorted().toList()) {
                sum = plus(sum, one(what, connection, id, deed));
            }
            return sum;
        });
        return tally == null ? NONE : tally;
    }

    /** What one that is locked or refused has written is taken back; the others stay. */
    private static SagaTally one(String what, Connection connection, String id, Deed deed) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            Boolean done = deed.on(connection, id);
            if (done == null) {
                connection.rollback(before);
                return new SagaTally(0, 0, 1, 0);
            }
            connection.releaseSavepoint(before);
            return done ? new SagaTally(1, 0, 0, 0) : new SagaTally(0, 1, 0, 0);
        } catch (SQLException | RowlockException e) {
            connection.rollback(before); // throws if the connection is lost
            LOG.warn("Could not {} (saga={})", what, id, e);
            return new SagaTally(0, 0, 0, 1);
        }
    }

    private static SagaTally plus(SagaTally a, SagaTally b) {
        return new SagaTally(
                a.done() + b.done(), a.refused() + b.refused(), a.locked() + b.locked(), a.failed() + b.failed());
    }
}
