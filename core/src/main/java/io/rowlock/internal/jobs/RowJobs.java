package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Headers;
import io.rowlock.internal.sql.CancelRequestSql;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.LookupSql;
import io.rowlock.internal.sql.LookupSql.JobRow;
import io.rowlock.internal.sql.LookupSql.StateCount;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OperationSql;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.Job;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import io.rowlock.job.Priority;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Looks up and changes rows, on connections of the data source or on one of the caller's. */
public final class RowJobs implements Jobs {
    private final LookupSql sql;
    private final ConnectionSource connections;
    private final @Nullable Connection bound;
    private final Operations operations;

    /**
     * Who hears, in this JVM, what was committed here.
     *
     * @param cancelled of jobs that were cancelled while a handler was at work on them
     * @param requested of jobs whose cancel was asked for, as their handlers have locked them
     * @param maybeDue that jobs may have become due
     */
    public record Committed(LongConsumer cancelled, LongConsumer requested, Runnable maybeDue) {}

    /** Jobs on connections of the data source. */
    public RowJobs(Names names, ConnectionSource connections, Committed committed) {
        this(
                new LookupSql(names),
                connections,
                null,
                new Operations(
                        names,
                        new OperationSql(names),
                        new KeySql(names),
                        new RetakeSql(names),
                        new CancelRequestSql(names),
                        connections,
                        null,
                        committed));
    }

    private RowJobs(LookupSql sql, ConnectionSource connections, @Nullable Connection bound, Operations operations) {
        this.sql = sql;
        this.connections = connections;
        this.bound = bound;
        this.operations = operations;
    }

    @Override
    public Jobs in(Connection connection) {
        return new RowJobs(sql, connections, connection, operations.in(connection));
    }

    @Override
    public Cancellation cancel(long id, By by) {
        return operations.cancel(id, checked(by));
    }

    @Override
    public boolean revive(long id, By by) {
        return operations.revive(id, checked(by));
    }

    @Override
    public boolean skip(long id, By by) {
        return operations.skip(id, checked(by));
    }

    private static By checked(@Nullable By by) {
        if (by == null) {
            throw new InvalidUseException("Say who does it, and why: by must not be null");
        }
        return by;
    }

    @Override
    public Optional<Job> find(long id) {
        return read(connection -> sql.byId(connection, id)).stream()
                .map(RowJobs::job)
                .findFirst();
    }

    @Override
    public List<Job> ofSubject(String subject) {
        return read(connection -> sql.bySubject(connection, subject)).stream()
                .map(RowJobs::job)
                .toList();
    }

    @Override
    public List<Job> ofKind(String kind) {
        return read(connection -> sql.byKind(connection, kind)).stream()
                .map(RowJobs::job)
                .toList();
    }

    @Override
    public List<JobFailure> failures(long id) {
        return read(connection -> sql.failures(connection, id)).stream()
                .map(row -> new JobFailure(
                        row.jobId(),
                        row.attempt(),
                        row.at(),
                        row.worker(),
                        row.errorClass(),
                        row.message(),
                        row.stack()))
                .toList();
    }

    @Override
    public Map<JobState, Long> counts() {
        Map<JobState, Long> counts = new EnumMap<>(JobState.class);
        for (JobState state : JobState.values()) {
            counts.put(state, 0L);
        }
        for (StateCount count : read(sql::counts)) {
            counts.put(JobState.of(count.state()), count.n());
        }
        return counts;
    }

    @FunctionalInterface
    private interface Read<T> {
        T over(Connection connection) throws SQLException;
    }

    private <T> T read(Read<T> read) {
        try {
            if (bound != null) {
                return read.over(bound);
            }
            try (Connection connection = connections.get()) {
                return read.over(connection);
            }
        } catch (SQLException e) {
            throw new DatabaseException("Jobs could not be looked up", e);
        }
    }

    private static Job job(JobRow row) {
        return new Job(
                row.identity().id(),
                row.identity().kind(),
                row.identity().queue(),
                JobState.of(row.identity().state()),
                row.identity().subject(),
                new Job.Content(
                        row.contents().payload(), Headers.read(row.contents().headers())),
                new Job.Progress(
                        Priority.ofLevel(row.course().priority()),
                        row.course().runAt(),
                        row.course().attempts(),
                        row.course().losses(),
                        row.course().maxAttempts(),
                        row.course().lastError(),
                        row.course().createdAt(),
                        row.course().finishedAt()),
                new Job.Lease(row.held().owner(), row.held().until(), row.held().token()));
    }
}
