package io.rowlock.saga.internal.engine;

import io.rowlock.internal.sql.SqlState;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.engine.Ledger.Answer;
import io.rowlock.saga.internal.engine.Ledger.Beside;
import io.rowlock.saga.internal.engine.Ledger.Entry;
import io.rowlock.saga.internal.sql.SagaWrite;
import io.rowlock.saga.internal.sql.SagaWrite.DriverDeed;
import io.rowlock.saga.internal.sql.StepRow;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records what an instance has, as long as its driver is held: rows that others have locked and a database that is away
 * are waited for, so that no step is called again because its answer could not be written at once. For one thread at a
 * time.
 */
final class Recording<S> {
    private static final Logger LOG = LoggerFactory.getLogger(Recording.class);
    private static final long LOCKED_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long AWAY_PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

    private final Ledger ledger;
    private final Relations relations;
    private final Hold hold;
    private final Instance<S> saga;
    private final List<Beside> beside = new ArrayList<>();

    Recording(Parts parts, Hold hold, Instance<S> saga) {
        this.ledger = parts.ledger();
        this.relations = parts.relations();
        this.hold = hold;
        this.saga = saga;
    }

    /** What became of a record. */
    enum Result {
        /** It is written. */
        RECORDED,
        /** Without what was to begin, or without the wait: somebody wants something of the saga. To be read again. */
        REDUCED,
        /** The lease is lost: nothing is written, and nothing may be done any more. */
        LOST
    }

    /** Written in the transaction of the next record. */
    void beside(Beside more) {
        beside.add(more);
    }

    /** Records that attempts start; with the first of the pivot, that the saga only goes forward. */
    Result start(List<StepRow> rows, boolean pivot, boolean gives) throws SQLException {
        SagaWrite full = saga.writeStart(hold.driver(), hold.goOn(false), rows, pivot);
        Result result = write(full, gives, Set.of());
        if (result == Result.RECORDED) {
            rows.forEach(saga::put);
            if (pivot) {
                saga.pivot();
            }
            saga.clean();
        }
        return result;
    }

    /** Records all; the driver goes on. */
    Result goOn() throws SQLException {
        return write(saga.write(hold.driver(), hold.goOn(true)), false, Set.of());
    }

    /** Records all, and puts the driver back until then, or until a signal. */
    Result putBack(@Nullable Instant until, boolean gives, Set<String> awaited) throws SQLException {
        SagaWrite full = saga.write(hold.driver(), new DriverDeed.PutBack(until, 0));
        Result result = write(full, gives, awaited);
        if (result == Result.RECORDED) {
            Duration delay = until == null ? Duration.ZERO : Duration.between(saga.now(), until);
            hold.ended(delay.isNegative() ? Duration.ZERO : delay);
        }
        return result;
    }

    /** Records that the last step is done, and ends the driver; or only the step, if somebody wants all of it undone. */
    Result complete(boolean gives) throws SQLException {
        SagaWrite reduced = saga.write(hold.driver(), hold.goOn(true));
        saga.status(SagaStatus.COMPLETED, null);
        return end(reduced, gives);
    }

    /** Records all, and ends the driver: of a saga that is finished, or needs a person. */
    Result end() throws SQLException {
        return end(saga.write(hold.driver(), hold.goOn(true)), false);
    }

    private Result end(SagaWrite reduced, boolean gives) throws SQLException {
        SagaWrite full = saga.write(hold.driver(), new DriverDeed.End());
        Result result = write(entry(full, reduced, gives, Set.of(), relations.atEnd(saga)));
        if (result == Result.RECORDED) {
            hold.ended(null);
            relations.ended(saga);
        }
        return result;
    }

    private Result write(SagaWrite full, boolean gives, Set<String> awaited) throws SQLException {
        return write(entry(full, saga.write(hold.driver(), hold.goOn(true)), gives, awaited, List.of()));
    }

    private Entry entry(
            SagaWrite full, SagaWrite reduced, boolean gives, Set<String> awaited, List<Beside> besideFull) {
        return new Entry(
                hold.owner(), hold.deletesCompleted(), full, reduced, gives, awaited, List.copyOf(beside), besideFull);
    }

    private Result write(Entry entry) throws SQLException {
        boolean doubt = false;
        while (!hold.takenAway()) {
            long askedAt = System.nanoTime();
            try {
                Answer answer = ledger.record(entry);
                if (answer instanceof Answer.Recorded recorded) {
                    beside.clear();
                    saga.recorded(recorded.seen().now(), askedAt, recorded.revision());
                    hold.recorded(entry.full().deed());
                    return Result.RECORDED;
                } else if (answer instanceof Answer.Reduced reduced) {
                    beside.clear();
                    saga.recorded(reduced.seen().now(), askedAt, reduced.revision());
                    hold.recorded(entry.reduced().deed());
                    return Result.REDUCED;
                } else if (answer instanceof Answer.Stale) {
                    return Result.REDUCED; // a record whose answer was lost was written, or a person was at it
                } else if (answer instanceof Answer.Lost) {
                    return doubt ? doubtful(entry.full()) : Result.LOST;
                }
                LockSupport.parkNanos(LOCKED_PAUSE);
            } catch (SQLException e) {
                if (!SqlState.curedOutside(e)) {
                    throw e;
                }
                doubt = true;
                LOG.warn("A saga could not be recorded, and is tried again (saga={}): {}", saga.id(), e.toString());
                LockSupport.parkNanos(AWAY_PAUSE);
            }
        }
        return Result.LOST;
    }

    /** The commit whose answer was lost may have ended the lease; the completer looks at the job's row. */
    private Result doubtful(SagaWrite full) {
        if (full.deed() instanceof DriverDeed.End) {
            hold.ended(null);
        } else if (full.deed() instanceof DriverDeed.PutBack) {
            hold.ended(Duration.ZERO);
        }
        return Result.LOST;
    }
}
