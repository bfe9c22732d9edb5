package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.DriverLease;
import io.rowlock.job.JobContext;
import io.rowlock.saga.internal.sql.SagaWrite.Driver;
import io.rowlock.saga.internal.sql.SagaWrite.DriverDeed;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A driver's lease, and what its job's row says of attempts and losses. For one thread at a time. */
final class Hold {
    private final DriverLease lease;
    private final JobContext job;
    private final Driver driver;
    private final Set<String> taken = new HashSet<>();
    private int attempts;
    private volatile boolean over;
    private int losses;

    Hold(DriverLease lease, JobContext job, String saga) {
        this.lease = lease;
        this.job = job;
        this.driver = new Driver(saga, lease.id(), lease.token(), null);
        this.attempts = lease.attempt();
        this.losses = lease.losses();
    }

    Driver driver() {
        return driver;
    }

    String owner() {
        return lease.owner();
    }

    boolean deletesCompleted() {
        return lease.deleteCompleted();
    }

    Duration length() {
        return lease.length();
    }

    boolean stopping() {
        return lease.stopping();
    }

    /** A step may leave its thread interrupted; unless the worker stops, that is nobody's wish. */
    void calm() {
        if (!lease.stopping()) {
            Thread.interrupted();
        }
    }

    boolean takenAway() {
        return lease.takenAway();
    }

    Map<String, String> headers() {
        return job.headers();
    }

    /** What idempotency keys of this database begin with. */
    String installation() {
        String key = job.idempotencyKey();
        return key.substring(0, key.lastIndexOf('-'));
    }

    /**
     * Whether whoever had it before gave it back in order: then the attempt of that step that this cut off costs nothing
     * (promise P6). True once at most for each step.
     */
    boolean takeHandBack(String step) {
        return lease.attempt() == 1 && lease.losses() == 0 && taken.add(step);
    }

    /** The attempt of that step does not begin after all. */
    void returnHandBack(String step) {
        taken.remove(step);
    }

    /** The driver stays; its attempts start anew, and with an answer it is no suspect any more. */
    DriverDeed goOn(boolean answered) {
        int next = answered ? 0 : losses;
        return attempts == 1 && losses == next ? new DriverDeed.Stay() : new DriverDeed.GoOn(next);
    }

    /** That is recorded. */
    void recorded(DriverDeed deed) {
        if (deed instanceof DriverDeed.GoOn goOn) {
            attempts = 1;
            losses = goOn.losses();
        }
    }

    /** Whether the end of the lease is recorded. */
    boolean isOver() {
        return over;
    }

    /** The job is completed, or put back for so long. */
    void ended(@Nullable Duration putBackFor) {
        over = true;
        lease.ended(putBackFor);
    }
}
