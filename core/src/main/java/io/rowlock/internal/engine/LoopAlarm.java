package io.rowlock.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.internal.outbox.CurrentJob;
import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.AlertSql.Cause;
import io.rowlock.internal.sql.SqlState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Raises an alert where jobs cause jobs without end. Once in a while for each kind: it names the loop, and counts no rounds. */
final class LoopAlarm {
    private static final Logger LOG = LoggerFactory.getLogger(LoopAlarm.class);
    private static final int DEEP = 20;
    private static final long SELDOM = TimeUnit.MINUTES.toNanos(10);

    private final EngineConnection connection;
    private final AlertSql sql;
    private final Events events;
    private final Map<String, Long> raised = new ConcurrentHashMap<>();
    private final Map<String, Cause> found = new ConcurrentHashMap<>();

    LoopAlarm(EngineConnection connection, AlertSql sql, Events events) {
        this.connection = connection;
        this.sql = sql;
        this.events = events;
    }

    /** Looks at a claimed job; never blocks. */
    void look(LeasedJob job) {
        String headers = job.row().contents().headers();
        int depth = CurrentJob.depth(headers);
        if (depth <= DEEP) {
            return;
        }
        Long before = raised.get(job.kind());
        if (before == null || System.nanoTime() - before > SELDOM) {
            found.put(job.kind(), new Cause(job.kind(), job.id(), reason(depth, CurrentJob.cause(headers))));
        }
    }

    private static String reason(int depth, @Nullable String cause) {
        return "jobs cause jobs, by now in a chain of " + depth + "; the one before is " + cause
                + "; end the loop, or cancel the job";
    }

    /** Raises what was found. */
    void step() throws SQLException {
        if (found.isEmpty()) {
            return;
        }
        List<Cause> about = new ArrayList<>(found.values());
        try {
            connection
                    .call(open -> sql.raise(open, AlertCause.JOBS_IN_LOOP, about))
                    .forEach(events::tell);
        } catch (SQLException e) {
            if (SqlState.connectionLost(e)) {
                throw e;
            }
            LOG.warn(
                    "The alert of a loop could not be written; it is tried again in ten minutes if the loop goes on",
                    e);
        }
        for (Cause each : about) {
            raised.put(each.kind(), System.nanoTime());
            found.remove(each.kind());
            LOG.warn("Jobs cause jobs without end (kind={}, job={}): {}", each.kind(), each.jobId(), each.reason());
        }
    }
}
