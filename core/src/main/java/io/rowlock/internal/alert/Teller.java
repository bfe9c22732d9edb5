package io.rowlock.internal.alert;

import io.rowlock.internal.sql.EnqueueSql;
import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.Keys;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.TellSql;
import io.rowlock.internal.sql.TellSql.Marked;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import io.rowlock.spi.PayloadCodec;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Marks alerts as told and writes the jobs that tell of them, for every sink that some process has had lately, in one
 * transaction: whoever dies, each is told by one job for each sink, or is still untold.
 */
public final class Teller {
    private static final int ALERTS = 100;
    private static final int JOBS = 1_000;

    private final TellSql sql;
    private final EnqueueSql jobs;
    private final PayloadCodec codec;
    private final List<String> sinks;

    /** @param sinks those of this process */
    public Teller(Names names, PayloadCodec codec, List<String> sinks) {
        this.sql = new TellSql(names);
        this.jobs = new EnqueueSql(names);
        this.codec = codec;
        this.sinks = List.copyOf(sinks);
    }

    /** Whether this process has nobody to tell. */
    public boolean isMute() {
        return sinks.isEmpty();
    }

    /** Says that this process has its sinks: now and then. */
    public void register(Connection connection) throws SQLException {
        sql.register(connection, sinks);
    }

    /** Whether any alert is untold. */
    public boolean hasNews(Connection connection) throws SQLException {
        return sql.waiting(connection);
    }

    /** What was written; more: there may be more untold alerts. */
    public record Told(List<Enqueued> jobs, boolean more) {}

    /** One batch, in a transaction; none if another process is at it. */
    public Told tell(Connection connection) throws SQLException {
        Marked marked = sql.tell(connection, ALERTS);
        List<NewJob> rows = new ArrayList<>();
        if (!marked.news().isEmpty()) {
            List<String> names = sql.sinks(connection);
            for (long alert : marked.news()) {
                String payload = payload(alert);
                names.forEach(name -> rows.add(job(alert, payload, name)));
            }
        }
        List<Enqueued> written = new ArrayList<>(rows.size());
        for (int i = 0; i < rows.size(); i += JOBS) {
            written.addAll(jobs.enqueue(connection, rows.subList(i, Math.min(rows.size(), i + JOBS))));
        }
        return new Told(written, marked.all() == ALERTS);
    }

    private String payload(long alert) {
        try {
            return codec.encode(alert);
        } catch (Exception e) {
            throw new IllegalStateException("The codec cannot write a Long; alerts cannot be told", e);
        }
    }

    private static NewJob job(long alert, String payload, String sink) {
        return new NewJob(
                Deliveries.queue(),
                Deliveries.kind(sink),
                Priority.NORMAL,
                "Alert:" + alert,
                payload,
                null,
                null,
                new Keys(null, null),
                new Due(null, null));
    }
}
