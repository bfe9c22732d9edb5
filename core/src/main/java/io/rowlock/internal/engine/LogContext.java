package io.rowlock.internal.engine;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.helpers.NOPMDCAdapter;

/**
 * What a thread's log lines say of the job at work on it: slf4j's MDC. When it is closed, the MDC is what it was before,
 * whatever the handler did to it. A logger that fails here fails no job.
 */
public final class LogContext implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogContext.class);
    private static final LogContext NONE = new LogContext(false, null);

    private final boolean entered;
    private final @Nullable Map<String, String> before;

    private LogContext(boolean entered, @Nullable Map<String, String> before) {
        this.entered = entered;
        this.before = before;
    }

    /** From now on until it is closed, on this thread. */
    static LogContext enter(LeasedJob job, String worker) {
        if (MDC.getMDCAdapter() instanceof NOPMDCAdapter) {
            return NONE;
        }
        Map<String, String> keys = new HashMap<>();
        keys.put("rowlock.job", String.valueOf(job.id()));
        keys.put("rowlock.kind", job.kind());
        keys.put("rowlock.queue", job.queue());
        keys.put("rowlock.attempt", String.valueOf(job.row().turn().attempt()));
        keys.put("rowlock.worker", worker);
        String subject = job.row().contents().subject();
        if (subject != null) {
            keys.put("rowlock.subject", subject);
        }
        return enter(keys);
    }

    /** The same with keys that are there beside those of before. */
    public static LogContext enter(Map<String, String> keys) {
        if (MDC.getMDCAdapter() instanceof NOPMDCAdapter) {
            return NONE;
        }
        try {
            Map<String, String> before = MDC.getCopyOfContextMap();
            Map<String, String> now = before == null ? new HashMap<>() : new HashMap<>(before);
            now.putAll(keys);
            MDC.setContextMap(now);
            return new LogContext(true, before);
        } catch (RuntimeException | LinkageError broken) {
            Described.quietly(() -> LOG.debug("The logger took no keys", broken));
            return NONE;
        }
    }

    /** The task for another thread: its log lines say there what they would say on this one. */
    public static Runnable carriedBy(Runnable task) {
        if (MDC.getMDCAdapter() instanceof NOPMDCAdapter) {
            return task;
        }
        Map<String, String> here = MDC.getCopyOfContextMap();
        return here == null
                ? task
                : () -> {
                    LogContext there = enter(here);
                    try {
                        task.run();
                    } finally {
                        there.close();
                    }
                };
    }

    @Override
    public void close() {
        if (!entered) {
            return;
        }
        try {
            if (before == null) {
                MDC.clear();
            } else {
                MDC.setContextMap(before);
            }
        } catch (RuntimeException | LinkageError broken) {
            Described.quietly(() -> LOG.debug("The logger gave no keys back", broken));
        }
    }
}
