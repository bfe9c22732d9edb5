package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.RedactionSql;
import io.rowlock.internal.sql.RedactionSql.About;
import io.rowlock.internal.sql.RedactionSql.Said;
import io.rowlock.job.By;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes out what finished jobs of a subject carry and what alerts say of it, some at a time; those that somebody has locked are tried again for a while. */
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

    /** So far. */
    private static final class Count {
        private long redacted;
        private long unfinished;
        private long refused;
        private long locked;
        private long alerts;
    }

    private JobRedaction throughAll(String subject, By by) throws SQLException {
        Count count = new Count();
        long after = 0;
        List<About> page;
        do {
            long from = after;
            page = desk.inOwn(open -> sql.ofSubject(open, subject, from, BATCH));
            jobs(page, subject, by, count);
            after = page.isEmpty() ? after : page.get(page.size() - 1).id();
        } while (page.size() == BATCH);
        alerts(subject, by, count);
        return new JobRedaction(count.redacted, count.unfinished, count.refused, count.locked, count.alerts);
    }

    /** Also the alerts of those that were redacted before: the process may have died in between. */
    private void jobs(List<About> page, String subject, By by, Count count) throws SQLException {
        List<About> finished = page.stream().filter(About::finished).toList();
        List<About> allowed =
                finished.stream().filter(job -> allows(job, subject, by)).toList();
        List<Long> open =
                allowed.stream().filter(job -> !job.redacted()).map(About::id).toList();
        long done = redact(open, by);
        count.redacted += done;
        count.locked += open.size() - done;
        count.refused += finished.stream().filter(job -> !job.redacted()).count() - open.size();
        count.unfinished += page.size() - finished.size();
        List<Long> ids = allowed.stream().map(About::id).toList();
        if (!ids.isEmpty()) {
            redact(desk.inOwn(on -> sql.alerts(on, subject, ids, Long.MAX_VALUE, 0)), subject, ids, by, count);
        }
    }

    /** Those of the subject, whose jobs may be gone. */
    private void alerts(String subject, By by, Count count) throws SQLException {
        long after = 0;
        List<Said> page;
        do {
            long from = after;
            page = desk.inOwn(open -> sql.alerts(open, subject, List.of(), from, BATCH));
            redact(page, subject, List.of(), by, count);
            after = page.isEmpty() ? after : page.get(page.size() - 1).id();
        } while (page.size() == BATCH);
    }

    private boolean allows(About job, String subject, By by) {
        Place place = new Place(job.id(), job.kind(), job.queue(), subject, null, JobState.COMPLETED, false, false);
        return desk.allows(Action.REDACT, by, place, job.queue());
    }

    private boolean allows(Said alert, String subject, By by, Count count) {
        String queue = alert.queue();
        if (queue != null) {
            return allows(new About(alert.job(), alert.kind(), queue, true, true), subject, by);
        }
        boolean allowed = desk.policy()
                .allows(new Access(
                        Action.REDACT, Target.ALERT, by, String.valueOf(alert.id()), alert.kind(), "", subject));
        count.refused += allowed ? 0 : 1; // where its job is there, that one was counted
        return allowed;
    }

    private long redact(List<Long> ids, By by) throws SQLException {
        long left = patiently(ids, now -> desk.inOwn(open -> sql.redact(open, now, by)))
                .size();
        return ids.size() - left;
    }

    private void redact(List<Said> alerts, String subject, List<Long> jobs, By by, Count count) throws SQLException {
        List<Long> allowed = alerts.stream()
                .filter(alert -> allows(alert, subject, by, count))
                .map(Said::id)
                .toList();
        List<Long> left = patiently(allowed, now -> {
            Map<Long, Boolean> free = desk.inOwn(open -> sql.redactAlerts(open, now, subject, jobs, by));
            count.alerts += free.values().stream().filter(redacted -> redacted).count();
            return free.keySet();
        });
        count.locked += left.size();
    }

    /** Does some of what is given; gives what it has dealt with. */
    @FunctionalInterface
    private interface Batch {
        Set<Long> over(List<Long> ids) throws SQLException;
    }

    /** What somebody has locked for longer than it is waited for. */
    private static List<Long> patiently(List<Long> ids, Batch batch) throws SQLException {
        List<Long> rest = ids;
        long until = System.nanoTime() + PATIENCE;
        while (!rest.isEmpty()) {
            Set<Long> gone = batch.over(rest);
            rest = rest.stream().filter(id -> !gone.contains(id)).toList();
            if (System.nanoTime() - until > 0 || Thread.currentThread().isInterrupted()) {
                break;
            }
            if (!rest.isEmpty()) {
                LockSupport.parkNanos(PAUSE);
            }
        }
        return rest;
    }
}
