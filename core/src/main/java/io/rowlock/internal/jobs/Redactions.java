package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.RedactionSql;
import io.rowlock.internal.sql.RedactionSql.About;
import io.rowlock.job.By;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.spi.AccessPolicy.Action;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes out what finished jobs carry, some at a time; those that somebody has locked are tried again for a while. */
final class Redactions {
    private static final Logger LOG = LoggerFactory.getLogger(Redactions.class);
    private static final int BATCH = 100;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Desk desk;
    private final RedactionSql sql;

    Redactions(Desk desk, RedactionSql sql) {
        this.desk = desk;
        this.sql = sql;
    }

    JobRedaction redact(String subject, By by) {
        try {
            JobRedaction made = throughAll(subject, by);
            LOG.info("Redaction of jobs: {} (by={}): {}", made, by.who(), by.why());
            return made;
        } catch (SQLException e) {
            throw new DatabaseException(
                    "A batch of jobs could not be redacted; those before it were, and the same call goes on with the rest",
                    e);
        }
    }

    private JobRedaction throughAll(String subject, By by) throws SQLException {
        long after = 0;
        long redacted = 0;
        long unfinished = 0;
        long refused = 0;
        long locked = 0;
        List<About> page;
        do {
            long from = after;
            page = desk.inOwn(open -> sql.ofSubject(open, subject, from, BATCH));
            List<About> open = page.stream()
                    .filter(job -> job.finished() && !job.redacted())
                    .toList();
            List<Long> allowed = open.stream()
                    .filter(job -> allows(job, subject, by))
                    .map(About::id)
                    .toList();
            long done = redact(allowed, by);
            redacted += done;
            locked += allowed.size() - done;
            refused += open.size() - allowed.size();
            unfinished += page.stream().filter(job -> !job.finished()).count();
            after = page.isEmpty() ? after : page.get(page.size() - 1).id();
        } while (page.size() == BATCH);
        return new JobRedaction(redacted, unfinished, refused, locked);
    }

    private boolean allows(About job, String subject, By by) {
        Place place = new Place(job.id(), job.kind(), job.queue(), subject, null, JobState.COMPLETED, false);
        return desk.allows(Action.REDACT, by, place, job.queue());
    }

    private long redact(List<Long> ids, By by) throws SQLException {
        long done = 0;
        List<Long> rest = ids;
        long until = System.nanoTime() + PATIENCE;
        while (!rest.isEmpty()) {
            List<Long> now = rest;
            Set<Long> gone = desk.inOwn(open -> sql.redact(open, now, by));
            done += gone.size();
            rest = rest.stream().filter(id -> !gone.contains(id)).toList();
            if (System.nanoTime() - until > 0 || Thread.currentThread().isInterrupted()) {
                break;
            }
            if (!rest.isEmpty()) {
                LockSupport.parkNanos(PAUSE);
            }
        }
        return done;
    }
}
