package io.rowlock.internal.outbox;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.JobsEnqueued;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.outbox.DedupGroup.Request;
import io.rowlock.internal.sql.EnqueueSql;
import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.Keys;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Priority;
import io.rowlock.spi.PayloadCodec;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outbox that writes rows: checks and serialises everything first, then inserts in bounded statements. */
public final class RowOutbox implements PreparingOutbox {
    private final EnqueueSql sql;
    private final DedupWriter dedup;
    private final PayloadCodec codec;
    private final Kinds kinds;
    private final int maxPayloadBytes;
    private final ContextHeaders context;
    private final RowlockListener listener;

    /** @param listener told of what was written; throws nothing */
    public RowOutbox(
            Names names,
            PayloadCodec codec,
            Kinds kinds,
            int maxPayloadBytes,
            ContextHeaders context,
            RowlockListener listener) {
        this.sql = new EnqueueSql(names);
        this.dedup = new DedupWriter(names);
        this.codec = codec;
        this.kinds = kinds;
        this.maxPayloadBytes = maxPayloadBytes;
        this.context = context;
        this.listener = listener;
    }

    @Override
    public List<Enqueued> enqueueAll(Connection connection, List<? extends JobRequest<?>> requests) {
        if (connection == null || requests == null) {
            throw new InvalidUseException("An enqueue needs a connection and a list of jobs, got null");
        }
        List<Request> rows = rows(requests);
        TransactionCheck.require(connection, "enqueue");
        List<Enqueued> written = write(connection, rows);
        written(connection, written);
        return written;
    }

    @Override
    public List<NewJob> prepare(List<? extends JobRequest<?>> requests) {
        return rows(requests).stream().map(Request::job).toList();
    }

    @Override
    public void written(Connection connection, List<Enqueued> jobs) {
        if (!jobs.isEmpty()) {
            listener.on(new JobsEnqueued(List.copyOf(jobs)));
        }
    }

    private List<Request> rows(List<? extends JobRequest<?>> requests) {
        List<Request> rows = new ArrayList<>(requests.size());
        ContextHeaders.Now headers = context.now();
        for (JobRequest<?> request : requests) {
            rows.add(row(request, headers));
        }
        return rows;
    }

    private List<Enqueued> write(Connection connection, List<Request> rows) {
        try {
            if (rows.stream().anyMatch(row -> row.key() != null)) {
                return dedup.write(connection, rows);
            }
            List<Enqueued> written = new ArrayList<>(rows.size());
            for (List<Request> part : Statements.of(rows, Request::bytes)) {
                written.addAll(
                        sql.enqueue(connection, part.stream().map(Request::job).toList()));
            }
            return written;
        } catch (SQLException e) {
            throw new DatabaseException(
                    "The jobs could not be written; roll the transaction back (jobs=" + rows.size() + ")", e);
        }
    }

    private <T> Request row(@Nullable JobRequest<T> request, ContextHeaders.Now headers) {
        if (request == null) {
            throw new InvalidUseException("A job to enqueue must not be null");
        }
        JobOptions options = request.options();
        String payload = payload(request.kind(), request.payload());
        int bytes = bytes(payload);
        NewJob job = new NewJob(
                options.queue().orElse("default"),
                request.kind().name(),
                options.priority().orElse(Priority.NORMAL),
                options.subject().orElse(null),
                payload,
                Headers.write(PayloadVersion.stamped(
                        headers.with(options.headers()), request.kind().version())),
                options.maxAttempts().orElse(null),
                new Keys(options.orderingKey().orElse(null), options.limitKey().orElse(null)),
                new Due(options.at().orElse(null), options.after().orElse(null)));
        return new Request(
                job, bytes, options.dedupKey().orElse(null), options.dedupMode().orElse(null));
    }

    /** The payload's JSON, checked as that of a job which is written now. */
    public <T> String payload(JobKind<T> kind, T payload) {
        kinds.register(kind);
        String json = encode(kind.name(), payload);
        int bytes = bytes(json);
        if (bytes > maxPayloadBytes) {
            throw new InvalidUseException("The payload of kind " + kind.name() + " has " + bytes
                    + " bytes as JSON, more than the limit of " + maxPayloadBytes
                    + "; store the data in a table of its own and put its key into the payload, or raise"
                    + " maxPayloadBytes");
        }
        return json;
    }

    private static int bytes(String json) {
        return json.getBytes(StandardCharsets.UTF_8).length;
    }

    private String encode(String kind, Object payload) {
        try {
            String json = codec.encode(payload);
            JacksonCodec.requireOneValue(json);
            return json;
        } catch (Exception | StackOverflowError e) {
            throw new InvalidUseException(
                    "The payload of kind " + kind + " could not be written as JSON ("
                            + payload.getClass().getName() + "): " + e.getMessage(),
                    e);
        }
    }
}
