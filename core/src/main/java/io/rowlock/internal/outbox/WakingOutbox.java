package io.rowlock.internal.outbox;

import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobRequest;
import io.rowlock.spi.AfterCommit;
import io.rowlock.spi.EarliestByLane;
import io.rowlock.spi.Waker;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An outbox that has the workers woken after the commit. Keeps nothing itself: what is to be told stands in the action,
 * which belongs to the transaction (promise P9).
 */
public final class WakingOutbox implements PreparingOutbox {
    private static final Logger LOG = LoggerFactory.getLogger(WakingOutbox.class);

    private final PreparingOutbox outbox;
    private final AfterCommit afterCommit;
    private final Waker waker;
    private final AtomicBoolean said = new AtomicBoolean();

    public WakingOutbox(PreparingOutbox outbox, AfterCommit afterCommit, Waker waker) {
        this.outbox = outbox;
        this.afterCommit = afterCommit;
        this.waker = waker;
    }

    @Override
    public List<Enqueued> enqueueAll(Connection connection, List<? extends JobRequest<?>> requests) {
        List<Enqueued> written = outbox.enqueueAll(connection, requests);
        if (!written.isEmpty()) {
            register(connection, written);
        }
        return written;
    }

    @Override
    public List<NewJob> prepare(List<? extends JobRequest<?>> requests) {
        return outbox.prepare(requests);
    }

    @Override
    public void written(Connection connection, List<Enqueued> jobs) {
        outbox.written(connection, jobs);
        if (!jobs.isEmpty()) {
            register(connection, jobs);
        }
    }

    /** The jobs are written: whatever happens here must not make the caller's transaction fail (promise P15). */
    private void register(Connection connection, List<Enqueued> written) {
        EarliestByLane earliest = new EarliestByLane();
        earliest.add(written);
        List<Enqueued> jobs = earliest.take();
        try {
            afterCommit.register(connection, () -> wake(jobs));
        } catch (RuntimeException | LinkageError e) {
            if (said.compareAndSet(false, true)) {
                LOG.warn(
                        "AfterCommit threw; the jobs are written, and found at the next poll. Further such errors are"
                                + " logged at debug level (afterCommit={})",
                        afterCommit.getClass().getName(),
                        e);
            } else {
                LOG.debug("AfterCommit threw", e);
            }
        }
    }

    /** The transaction has committed: whatever happens here must not make it look failed. */
    private void wake(List<Enqueued> jobs) {
        try {
            waker.wake(jobs);
        } catch (RuntimeException | Error e) {
            LOG.warn("Workers could not be woken; the jobs are found at the next poll", e);
        }
    }
}
