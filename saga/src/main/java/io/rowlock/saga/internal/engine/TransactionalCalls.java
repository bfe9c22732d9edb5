package io.rowlock.saga.internal.engine;

import io.rowlock.internal.sql.SqlState;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.OutcomeUnknown;
import io.rowlock.saga.internal.engine.Drive.Next;
import io.rowlock.saga.internal.sql.RecordSql.Locked;
import io.rowlock.saga.internal.sql.SagaWrite.DriverDeed;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls transactional steps and compensations: the saga and its driver are locked, the step does its work, the record is
 * written, all in one transaction (promise P4). What rolled back has had no effect; where the commit's answer was lost, the
 * saga is read again.
 */
final class TransactionalCalls<S> {
    private static final Logger LOG = LoggerFactory.getLogger(TransactionalCalls.class);
    private static final int DEEPEST = 50;
    private static final long LOCKED_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

    private final Parts parts;
    private final Hold hold;
    private final Instance<S> saga;

    TransactionalCalls(Parts parts, Hold hold, Instance<S> saga) {
        this.parts = parts;
        this.hold = hold;
        this.saga = saga;
    }

    /**
     * What is attempted.
     *
     * @param gives whether it is not to begin if a cancel was asked for or the deadline is over
     */
    record Attempt<S>(
            String step, @Nullable Duration timeout, boolean gives, Calls.Ends<S> ends, Recording<S> recording) {}

    /** The work, over what the runner gives it. */
    @FunctionalInterface
    interface Work<S, R> {
        @Nullable
        S over(R resource) throws Exception;
    }

    /** How far the transaction came. */
    private enum Reached {
        BEGINNING,
        LOCKED,
        RECORDED
    }

    <R> Next run(TransactionRunner<R> runner, Work<S, R> work, Attempt<S> attempt) throws Exception {
        while (!hold.takenAway()) {
            Next next = once(runner, work, attempt);
            if (next != null) {
                return next;
            }
            LockSupport.parkNanos(LOCKED_PAUSE);
        }
        return Next.OVER;
    }

    /** Null if somebody has the rows locked: nothing has begun. */
    private <R> @Nullable Next once(TransactionRunner<R> runner, Work<S, R> work, Attempt<S> attempt) throws Exception {
        TimedCall timed = new TimedCall(parts, attempt.timeout());
        InTransaction<R> transaction = new InTransaction<>(work, attempt, timed);
        Throwable thrown = null;
        try {
            timed.call(
                    () -> {
                        runner.run(transaction);
                        return "";
                    },
                    () -> tooLong(transaction, attempt));
        } catch (Throwable e) {
            thrown = e;
        }
        hold.calm();
        if (timed.decidedByTimer() || hold.takenAway()) {
            return Next.OVER;
        }
        if (thrown == null && transaction.reached != Reached.RECORDED) {
            thrown = new IllegalStateException("the transaction runner returned and had not "
                    + (transaction.reached == Reached.BEGINNING
                            ? "begun the work"
                            : "called completing() in its transaction"));
        }
        if (thrown == null) {
            hold.recorded(transaction.deed());
            saga.recorded(transaction.seen().now(), transaction.askedAt(), transaction.revision());
            return Next.ON;
        }
        if (thrown instanceof NotBegunException notBegun) {
            return notBegun.next;
        }
        if (transaction.reached == Reached.RECORDED) {
            if (!refused(thrown)) {
                LOG.warn(
                        "The commit of a step failed; its saga is read again (saga={}, step={})",
                        saga.id(),
                        attempt.step(),
                        thrown);
                return Next.READ_AGAIN;
            }
            transaction.forget.run();
        }
        attempt.ends().failed(thrown);
        return Next.ON;
    }

    /** Whether the server said no to the record or to the commit, as to a deferred constraint: all is rolled back. */
    private static boolean refused(Throwable thrown) {
        return Stream.iterate(thrown, each -> each != null, Throwable::getCause)
                .limit(DEEPEST)
                .anyMatch(each -> each instanceof SQLException error && SqlState.refusesData(error));
    }

    private void tooLong(InTransaction<?> transaction, Attempt<S> attempt) throws SQLException {
        transaction.abort();
        attempt.ends().failed(new TookTooLongException(Objects.requireNonNull(attempt.timeout()), hold.length()));
        Calls.endEarly(saga, attempt.recording());
    }

    /** Else a statement that waits in the server would keep the saga locked, though its client is gone. */
    private void terminate(int backend) {
        try {
            parts.ledger().call(connection -> parts.records().terminate(connection, backend));
        } catch (SQLException e) {
            LOG.warn(
                    "The session of a step that took too long could not be ended (saga={}): {}",
                    saga.id(),
                    e.toString());
        }
    }

    /** The work was not called. */
    private static final class NotBegunException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient @Nullable Next next;

        NotBegunException(@Nullable Next next) {
            super("rolled back before the step began", null, false, false);
            this.next = next;
        }
    }

    private final class InTransaction<R> implements TransactionRunner.Work<R> {
        private final Work<S, R> work;
        private final Attempt<S> attempt;
        private final TimedCall timed;
        private @Nullable Connection connection;
        private Reached reached = Reached.BEGINNING;
        private Runnable forget = () -> {};
        private @Nullable Locked seen;
        private @Nullable DriverDeed deed;
        private @Nullable S result;
        private @Nullable Instant revision;
        private long askedAt;

        InTransaction(Work<S, R> work, Attempt<S> attempt, TimedCall timed) {
            this.work = work;
            this.attempt = attempt;
            this.timed = timed;
        }

        Locked seen() {
            return Objects.requireNonNull(seen);
        }

        DriverDeed deed() {
            return Objects.requireNonNull(deed);
        }

        Instant revision() {
            return Objects.requireNonNull(revision);
        }

        long askedAt() {
            return askedAt;
        }

        private synchronized void atWork(@Nullable Connection open) {
            connection = open;
        }

        /** Only while the work is at it: afterwards the session goes back to a pool, and may be another's. */
        synchronized void abort() throws SQLException {
            Connection open = connection;
            if (open != null) {
                terminate(seen().backend());
                open.abort(Runnable::run);
            }
        }

        @Override
        public void begun(Connection open) throws SQLException {
            askedAt = System.nanoTime();
            Locked locked = parts.records()
                    .lock(open, hold.owner(), List.of(hold.driver()))
                    .get(saga.id());
            if (locked == null) {
                boolean held = !parts.records()
                        .held(open, hold.owner(), List.of(hold.driver()))
                        .isEmpty();
                throw new NotBegunException(held ? null : Next.OVER);
            }
            boolean stale = !locked.revision().equals(saga.revision());
            if (stale || (attempt.gives() && (locked.cancel() != null || locked.over()))) {
                throw new NotBegunException(Next.READ_AGAIN);
            }
            seen = locked;
            atWork(open);
            reached = Reached.LOCKED;
        }

        @Override
        public void handle(R resource) throws Exception {
            try {
                result = work.over(resource);
            } finally {
                atWork(null);
            }
        }

        @Override
        public void completing(Connection open) throws Exception {
            if (!timed.settle()) { // or the timer would record a failure of what is committed
                throw new TimeoutException("it took too long, and is rolled back");
            }
            Locked still = parts.records()
                    .lock(open, hold.owner(), List.of(hold.driver()))
                    .get(saga.id());
            if (still == null || !still.transaction().equals(seen().transaction())) {
                throw new PermanentFailure(
                        "the step ended the transaction that records it; leave its end to Rowlock",
                        new OutcomeUnknown("what it did before is committed, or lost", null));
            }
            forget = saga.mark();
            attempt.ends().returned(result);
            deed = hold.goOn(true);
            reached = Reached.RECORDED;
            revision = parts.records()
                    .write(open, hold.owner(), List.of(saga.write(hold.driver(), deed)), hold.deletesCompleted())
                    .get(saga.id());
        }
    }
}
