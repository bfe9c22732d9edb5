package io.rowlock.internal.schedule;

import io.rowlock.internal.outbox.Headers;
import io.rowlock.internal.outbox.PayloadVersion;
import io.rowlock.internal.sql.EnqueueSql;
import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.Keys;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.ScheduleSql.JobColumns;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Writes the jobs of schedules. Their payload stands in the schedule's row; nobody's context is theirs. */
final class ScheduledJobs {
    private static final String HEADER = "rowlock-scheduled-at";
    private static final int MOST = 1_000;
    private static final int MOST_BYTES = 8 << 20;

    private final EnqueueSql sql;

    ScheduledJobs(Names names) {
        this.sql = new EnqueueSql(names);
    }

    /** How many jobs go into one statement (promise P14). */
    static int atOnce(JobColumns job) {
        int bytes = job.payload().getBytes(StandardCharsets.UTF_8).length;
        return Math.max(1, Math.min(MOST, MOST_BYTES / Math.max(1, bytes)));
    }

    /** One job for each instant, at most {@link #atOnce}. */
    List<Enqueued> write(Connection connection, String schedule, JobColumns job, boolean inTurn, List<Instant> instants)
            throws SQLException {
        Keys keys = new Keys(inTurn ? "schedule/" + schedule : null, null);
        StampedPayload payload = StampedPayload.read(job.payload());
        List<NewJob> rows = instants.stream()
                .map(instant -> new NewJob(
                        job.queue(),
                        job.kind(),
                        Priority.ofLevel(job.priority()),
                        job.subject(),
                        payload.json(),
                        Headers.write(PayloadVersion.stamped(Map.of(HEADER, instant.toString()), payload.version())),
                        null,
                        keys,
                        new Due(null, null)))
                .toList();
        return sql.enqueue(connection, rows);
    }
}
