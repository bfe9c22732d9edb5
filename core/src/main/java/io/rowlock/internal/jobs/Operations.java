package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.jobs.Cancels.Cancel;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.JobAnswer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What people do to single jobs, in a transaction of its own or in the caller's, under the lock of the job's key; who waits for
 * it in this JVM hears of it when it has committed.
 */
final class Operations {
    private static final Logger LOG = LoggerFactory.getLogger(Operations.class);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Desk desk;
    private final Cancels cancels;
    private final Revivals revivals;
    private final Changes changes;

    Operations(Desk desk) {
        this.desk = desk;
        this.cancels = new Cancels(desk);
        this.revivals = new Revivals(desk);
        this.changes = new Changes(desk);
    }

    Cancellation cancel(long id, By by) {
        List<RowlockEvent> events = new ArrayList<>();
        Cancel made = desk.inTransaction("cancelled", open -> cancels.cancel(open, id, by, events::add));
        events.forEach(desk.committed().listener()::on);
        LOG.info("Cancel of a job: {} (job={}, by={}): {}", made.answer(), id, by.who(), by.why());
        if (desk.bound() == null && made.requested()) {
            tell(id, made);
        }
        return told(made.answer());
    }

    void tell(long id, Cancel requested) {
        (requested.asked() ? desk.committed().requested() : desk.committed().cancelled()).accept(id);
    }

    JobAnswer revive(long id, By by) {
        List<RowlockEvent> events = new ArrayList<>();
        JobAnswer revived = desk.bound() == null
                ? reviveSoon(id, by, events::add)
                : desk.inTransaction("revived", open -> revivals.revive(open, id, by, events::add));
        events.forEach(desk.committed().listener()::on);
        LOG.info("Revive of a job: {} (job={}, by={}): {}", revived, id, by.who(), by.why());
        return told(revived);
    }

    /** Again and again, with no lock held in between: another's transaction may write the dedup key for long. */
    private JobAnswer reviveSoon(long id, By by, RowlockListener listener) {
        long until = System.nanoTime() + OwnTransaction.PATIENCE.toNanos();
        Optional<JobAnswer> answer = desk.inTransaction("revived", open -> revivals.reviveSoon(open, id, by, listener));
        while (answer.isEmpty()
                && System.nanoTime() - until < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(PAUSE);
            answer = desk.inTransaction("revived", open -> revivals.reviveSoon(open, id, by, listener));
        }
        return answer.orElseThrow(() -> new DatabaseException(
                "The job could not be revived; try again later",
                new SQLException("Another transaction writes its dedup key (job=" + id + ")", "55P03")));
    }

    boolean skip(long id, By by) {
        boolean skipped = desk.inTransaction("skipped", open -> changes.skip(open, id, by));
        LOG.info("Skip of a dead head: {} (job={}, by={}): {}", skipped, id, by.who(), by.why());
        return told(skipped);
    }

    JobAnswer delete(long id, By by) {
        JobAnswer answer = desk.inTransaction("deleted", open -> changes.delete(open, id, by));
        LOG.info("Delete of a job: {} (job={}, by={}): {}", answer, id, by.who(), by.why());
        return told(answer);
    }

    JobAnswer reschedule(long id, Instant at, By by) {
        JobAnswer answer = desk.inTransaction("rescheduled", open -> changes.reschedule(open, id, at, by));
        LOG.info("Reschedule of a job to {}: {} (job={}, by={}): {}", at, answer, id, by.who(), by.why());
        return told(answer);
    }

    JobAnswer move(long id, String queue, By by) {
        noteKey(id);
        JobAnswer answer = desk.inTransaction("moved", open -> changes.move(open, id, queue, by));
        LOG.info("Move of a job to queue {}: {} (job={}, by={}): {}", queue, answer, id, by.who(), by.why());
        return told(answer);
    }

    private void noteKey(long id) {
        Connection bound = desk.bound();
        try {
            Optional<Place> place = bound != null
                    ? desk.sql().operations().whereIs(bound, id)
                    : desk.inOwn(open -> desk.sql().operations().whereIs(open, id));
            OrderingKey key = place.map(Place::key).orElse(null);
            desk.note(key == null ? List.of() : List.of(key));
        } catch (SQLException e) {
            throw new DatabaseException("The job could not be moved", e);
        }
    }

    private <T> T told(T answer) {
        if (desk.bound() == null) {
            desk.committed().maybeDue().run();
        }
        return answer;
    }
}
