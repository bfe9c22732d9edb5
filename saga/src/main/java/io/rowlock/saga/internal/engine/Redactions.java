package io.rowlock.saga.internal.engine;

import io.rowlock.job.By;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.internal.sql.RedactSql;
import io.rowlock.saga.internal.sql.RedactSql.About;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Takes out what finished sagas say, some at a time; those that somebody has locked are tried again for a while. */
final class Redactions {
    private static final int BATCH = 100;
    private static final long LONGEST = Duration.ofSeconds(5).toNanos();
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);
    private static final String WHAT = "redact sagas";

    private final RedactSql sql;
    private final Patience patience;

    Redactions(RedactSql sql, Patience patience) {
        this.sql = sql;
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
                        redacted, all.stream().filter(each -> !each.finished()).count(), open.size());
            }
            LockSupport.parkNanos(PAUSE);
        }
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
