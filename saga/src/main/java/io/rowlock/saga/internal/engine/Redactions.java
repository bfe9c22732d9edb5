package io.rowlock.saga.internal.engine;

import io.rowlock.internal.sql.RedactionSql;
import io.rowlock.internal.sql.RedactionSql.Said;
import io.rowlock.job.By;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.internal.sql.RedactSql;
import io.rowlock.saga.internal.sql.RedactSql.About;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Takes out what finished sagas say, some at a time; those that somebody has locked are tried again for a while. */
final class Redactions {
    private static final int BATCH = 100;
    private static final long LONGEST = Duration.ofSeconds(5).toNanos();
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);
    private static final String WHAT = "redact sagas";

    private final RedactSql sql;
    private final RedactionSql alerts;
    private final Patience patience;

    Redactions(RedactSql sql, RedactionSql alerts, Patience patience) {
        this.sql = sql;
        this.alerts = alerts;
        this.patience = patience;
    }

    SagaRedaction redact(String subject, By by) {
        List<About> all = patience.read(WHAT, connection -> sql.ofSubject(connection, subject));
        List<String> open = all.stream().filter(About::finished).map(About::id).toList();
        long redacted = 0;
        long until = System.nanoTime() + LONGEST;
        while (true) {
            List<String> locked = new ArrayList<>();
            for (int from = 0; from < open.size(); from += BATCH) {
                List<String> left = redactBatch(open.subList(from, Math.min(open.size(), from + BATCH)), by);
                redacted += Math.min(open.size(), from + BATCH) - from - left.size();
                locked.addAll(left);
            }
            open = present(locked);
            if (open.isEmpty() || System.nanoTime() - until > 0) {
                return new SagaRedaction(
                        redacted,
                        all.stream().filter(each -> !each.finished()).count(),
                        open.size() + redactAlerts(subject, by));
            }
            LockSupport.parkNanos(PAUSE);
        }
    }

    /** What alerts say of the subject, whose sagas may be gone; gives how many were not to be had. */
    private long redactAlerts(String subject, By by) {
        long locked = 0;
        long after = 0;
        long until = System.nanoTime() + LONGEST;
        List<Said> page;
        do {
            long from = after;
            page = patience.read(WHAT, connection -> alerts.alerts(connection, subject, List.of(), from, BATCH));
            List<Long> rest = new ArrayList<>(page.stream().map(Said::id).toList());
            while (!rest.isEmpty()) {
                List<Long> now = List.copyOf(rest);
                Map<Long, Boolean> free =
                        patience.once(WHAT, connection -> alerts.redactAlerts(connection, now, subject, List.of(), by));
                rest.removeAll(free == null ? Set.of() : free.keySet());
                if (rest.isEmpty() || System.nanoTime() - until > 0) {
                    break;
                }
                LockSupport.parkNanos(PAUSE);
            }
            locked += rest.size();
            after = page.isEmpty() ? after : page.get(page.size() - 1).id();
        } while (page.size() == BATCH);
        return locked;
    }

    /** Those that were not to be had. */
    private List<String> redactBatch(List<String> ids, By by) {
        List<String> done = patience.once(WHAT, connection -> {
            List<String> locked = sql.lock(connection, ids);
            if (!locked.isEmpty()) {
                sql.redact(connection, locked, by);
            }
            return locked;
        });
        List<String> left = new ArrayList<>(ids);
        left.removeAll(done == null ? List.of() : done);
        return left;
    }

    private List<String> present(List<String> ids) {
        return ids.isEmpty() ? ids : patience.read(WHAT, connection -> sql.left(connection, ids));
    }
}
