package io.rowlock.internal.jobs;

import io.rowlock.internal.sql.OperationSql;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.job.By;
import io.rowlock.job.JobAnswer;
import io.rowlock.spi.AccessPolicy.Action;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;

/** Skips, deletes, reschedules and moves one job inside a transaction, each with the row that says by whom. */
final class Changes {
    private final Desk desk;
    private final OperationSql sql;

    Changes(Desk desk) {
        this.desk = desk;
        this.sql = desk.sql().operations();
    }

    boolean skip(Connection open, long id, By by) throws SQLException {
        Optional<Place> place = desk.lock(open, id);
        OrderingKey key = place.map(Place::key).orElse(null);
        if (key == null) {
            return false;
        }
        desk.require(Action.SKIP, by, place.get());
        if (!desk.sql().keys().unblock(open, key, id)) {
            return false;
        }
        desk.sql().keys().settleWithin(open, key);
        sql.record(open, id, "skip", by);
        return true;
    }

    JobAnswer delete(Connection open, long id, By by) throws SQLException {
        Optional<Place> place = desk.lock(open, id);
        if (place.isEmpty()) {
            return JobAnswer.UNKNOWN;
        }
        desk.require(Action.DELETE, by, place.get());
        if (!place.get().state().terminal()) {
            return JobAnswer.UNFINISHED;
        }
        if (!sql.delete(open, id)) {
            return sql.whereIs(open, id).isEmpty() ? JobAnswer.UNKNOWN : JobAnswer.UNFINISHED;
        }
        desk.sql().requests().withdraw(open, id);
        OrderingKey key = place.get().key();
        if (key != null) {
            desk.sql().keys().unblock(open, key, id);
            desk.sql().keys().settleWithin(open, key);
        }
        sql.record(open, id, "delete", by);
        return JobAnswer.DONE;
    }

    JobAnswer reschedule(Connection open, long id, Instant at, By by) throws SQLException {
        Optional<Place> place = desk.lock(open, id);
        if (place.isPresent()) {
            desk.require(Action.RESCHEDULE, by, place.get());
        }
        JobAnswer waits = waits(place);
        if (waits != JobAnswer.DONE) {
            return waits;
        }
        if (!sql.reschedule(open, id, at)) {
            return instead(open, id);
        }
        sql.record(open, id, "reschedule", by);
        return JobAnswer.DONE;
    }

    /** The row of the job's key was made before, or a claim that makes one could take the job while it is on its way. */
    JobAnswer move(Connection open, long id, String queue, By by) throws SQLException {
        Optional<Place> place = desk.lock(open, id);
        if (place.isPresent()) {
            desk.require(Action.MOVE, by, place.get());
            desk.require(Action.MOVE, by, place.get(), queue);
        }
        JobAnswer waits = waits(place);
        if (waits != JobAnswer.DONE) {
            return waits;
        }
        if (place.get().queue().equals(queue)) {
            return JobAnswer.ALREADY;
        }
        OrderingKey key = place.get().key();
        if (key != null && !sql.lockKey(open, key)) {
            throw new SQLException("The row of the job's ordering key is gone again (job=" + id + ")", "55P03");
        }
        if (!sql.move(open, id, queue)) {
            Optional<Place> now = sql.whereIs(open, id);
            boolean there = now.map(Place::queue).filter(queue::equals).isPresent();
            return there && waits(now) == JobAnswer.DONE ? JobAnswer.ALREADY : instead(open, id);
        }
        if (key != null) {
            desk.sql().keys().settleWithin(open, key);
        }
        sql.record(open, id, "move", by);
        return JobAnswer.DONE;
    }

    /** What has become of a job that waited before its row was locked. */
    private JobAnswer instead(Connection open, long id) throws SQLException {
        JobAnswer now = waits(sql.whereIs(open, id));
        return now == JobAnswer.DONE ? JobAnswer.RUNNING : now; // claimed, and put back already
    }

    /** DONE: it can be. */
    private static JobAnswer waits(Optional<Place> place) {
        if (place.isEmpty()) {
            return JobAnswer.UNKNOWN;
        }
        if (place.get().state().terminal()) {
            return JobAnswer.FINISHED;
        }
        return place.get().leased() ? JobAnswer.RUNNING : JobAnswer.DONE;
    }
}
