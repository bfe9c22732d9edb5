package io.rowlock.internal.jobs;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.outbox.Headers;
import io.rowlock.internal.outbox.Kinds;
import io.rowlock.internal.sql.CountSql;
import io.rowlock.internal.sql.CountSql.QueueAndKind;
import io.rowlock.internal.sql.FindSql;
import io.rowlock.internal.sql.FindSql.Ids;
import io.rowlock.internal.sql.LookupSql;
import io.rowlock.internal.sql.LookupSql.Contents;
import io.rowlock.internal.sql.LookupSql.JobRow;
import io.rowlock.internal.sql.LookupSql.StateCount;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.RedactionSql;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.Job;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobCounts;
import io.rowlock.job.JobFailure;
import io.rowlock.job.JobPage;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobState;
import io.rowlock.job.JobTally;
import io.rowlock.job.Jobs;
import io.rowlock.job.Priority;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Looks up and changes rows, on connections of the data source or on one of the caller's. */
public final class RowJobs implements Jobs {
    private static final int LANES_AT_ONCE = 50;

    private final Reading sql;
    private final Desk desk;
    private final Operations operations;

    /** The statements that change nothing. */
    private record Reading(LookupSql lookups, FindSql finds, CountSql counts, RedactionSql redactions, Kinds kinds) {}

    /**
     * Who hears, in this JVM, what was committed here.
     *
     * @param cancelled of jobs that were cancelled while a handler was at work on them
     * @param requested of jobs whose cancel was asked for, as their handlers have locked them
     * @param maybeDue that jobs may have become due
     * @param listener of what was done; of what is done over a caller's connection before that commits
     */
    public record Committed(
            LongConsumer cancelled, LongConsumer requested, Runnable maybeDue, RowlockListener listener) {}

    /** Jobs on connections of the data source. */
    public RowJobs(Names names, ConnectionSource connections, AccessPolicy policy, Kinds kinds, Committed committed) {
        this(
                new Reading(
                        new LookupSql(names),
                        new FindSql(names, kinds::namesOf),
                        new CountSql(names),
                        new RedactionSql(names),
                        kinds),
                new Desk(Desk.Statements.of(names), connections, null, policy, committed));
    }

    private RowJobs(Reading sql, Desk desk) {
        this.sql = sql;
        this.desk = desk;
        this.operations = new Operations(desk);
    }

    @Override
    public Jobs in(Connection connection) {
        return new RowJobs(sql, desk.in(connection));
    }

    @Override
    public Cancellation cancel(long id, By by) {
        return operations.cancel(id, checked(by));
    }

    @Override
    public JobAnswer revive(long id, By by) {
        return operations.revive(id, checked(by));
    }

    @Override
    public boolean skip(long id, By by) {
        return operations.skip(id, checked(by));
    }

    @Override
    public JobAnswer delete(long id, By by) {
        return operations.delete(id, checked(by));
    }

    @Override
    public JobAnswer reschedule(long id, Instant at, By by) {
        return operations.reschedule(id, new JobChange.Reschedule(at).at(), checked(by));
    }

    @Override
    public JobAnswer move(long id, String queue, By by) {
        return operations.move(id, new JobChange.Move(queue).queue(), checked(by));
    }

    @Override
    public JobTally changeAll(JobQuery query, JobChange change, By by, Consumer<JobTally> progress) {
        if (query == null || change == null || progress == null) {
            throw new InvalidUseException("A change of many jobs needs a query, a change and whom to tell, got none");
        }
        checkCursor(query);
        unbound("change many jobs");
        return new Bulk(desk, sql.finds).change(query, change, checked(by), progress);
    }

    @Override
    public JobRedaction redact(String subject, By by) {
        JobQuery about = JobQuery.all().subject(subject);
        unbound("redact jobs");
        return new Redactions(desk, sql.redactions).redact(about.subject().orElseThrow(), checked(by));
    }

    private void unbound(String what) {
        if (desk.bound() != null) {
            throw new InvalidUseException("Cannot " + what
                    + " over a given connection, as each batch is a transaction of its own; call it on rowlock.jobs()");
        }
    }

    @Override
    public Optional<Job.Content> content(long id, By by) {
        checked(by);
        Connection bound = desk.bound();
        try {
            Optional<Contents> read = bound == null
                    ? desk.inOwn(
                            open -> permitted(open, id, by, open) ? sql.lookups.content(open, id) : Optional.empty())
                    : desk.inOwn(open -> permitted(bound, id, by, open))
                            ? sql.lookups.content(bound, id)
                            : Optional.empty();
            return read.map(content -> new Job.Content(content.payload(), Headers.read(content.headers())));
        } catch (SQLException e) {
            throw new DatabaseException("The content of a job could not be read", e);
        }
    }

    /** Whether there is such a job; that it is read is kept over the second connection. */
    private boolean permitted(Connection open, long id, By by, Connection record) throws SQLException {
        Optional<Place> place = desk.sql().operations().whereIs(open, id);
        if (place.isEmpty()) {
            return false;
        }
        desk.require(Action.READ, by, place.get());
        desk.sql().operations().record(record, id, "read", by);
        return true;
    }

    @Override
    public JobPage find(JobQuery query) {
        return find(query, AccessPolicy.NOBODY);
    }

    @Override
    public JobPage find(JobQuery query, By by) {
        checked(by);
        if (query == null) {
            throw new InvalidUseException("The query must not be null; JobQuery.all() asks for all");
        }
        checkCursor(query);
        return read(connection -> {
            Ids found = sql.finds.find(connection, query);
            Map<Long, Job> byId = new HashMap<>();
            sql.lookups
                    .byIds(connection, found.ids())
                    .forEach(row -> byId.put(row.identity().id(), job(row, by)));
            return new JobPage(
                    found.ids().stream().map(byId::get).filter(Objects::nonNull).toList(), found.next());
        });
    }

    private static void checkCursor(JobQuery query) {
        if (query.after().isPresent() && (query.after().get().finishedAt() != null) != query.byEnd()) {
            throw new InvalidUseException("The cursor is of a query in another order: "
                    + (query.byEnd() ? "this one asks for times of ends" : "this one does not ask for times of ends"));
        }
    }

    @Override
    public List<JobCounts> load() {
        return read(connection -> {
            Set<QueueAndKind> all = sql.counts.lanes(connection);
            sql.finds.lanes(connection).stream()
                    .filter(lane -> lane.state() != JobState.CANCELLED)
                    .forEach(lane -> all.add(new QueueAndKind(lane.queue(), lane.kind())));
            List<QueueAndKind> lanes = List.copyOf(all);
            List<JobCounts> counts = new ArrayList<>();
            for (int from = 0; from < lanes.size(); from += LANES_AT_ONCE) {
                counts.addAll(sql.counts.count(
                        connection, lanes.subList(from, Math.min(lanes.size(), from + LANES_AT_ONCE))));
            }
            return counts;
        });
    }

    private static By checked(@Nullable By by) {
        if (by == null) {
            throw new InvalidUseException("Say who does it, and why: by must not be null");
        }
        return by;
    }

    @Override
    public Optional<Job> find(long id) {
        return find(id, AccessPolicy.NOBODY);
    }

    @Override
    public Optional<Job> find(long id, By by) {
        checked(by);
        return read(connection -> sql.lookups.byId(connection, id)).stream()
                .map(row -> job(row, by))
                .findFirst();
    }

    @Override
    public List<Job> ofSubject(String subject) {
        return read(connection -> sql.lookups.bySubject(connection, subject)).stream()
                .map(row -> job(row, AccessPolicy.NOBODY))
                .toList();
    }

    @Override
    public List<Job> ofKind(String kind) {
        List<String> kinds = kind == null ? List.of() : sql.kinds.namesOf(kind);
        return read(connection -> sql.lookups.byKind(connection, kinds)).stream()
                .map(row -> job(row, AccessPolicy.NOBODY))
                .toList();
    }

    @Override
    public List<JobFailure> failures(long id) {
        return failures(id, AccessPolicy.NOBODY);
    }

    @Override
    public List<JobFailure> failures(long id, By by) {
        checked(by);
        return read(connection -> mayRead(connection, id, by)
                        ? sql.lookups.failures(connection, id)
                        : List.<LookupSql.FailureRow>of())
                .stream()
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
        for (StateCount count : read(sql.lookups::counts)) {
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
            if (desk.bound() != null) {
                return read.over(desk.bound());
            }
            try (Connection connection = desk.connections().get()) {
                return read.over(connection);
            }
        } catch (SQLException e) {
            throw new DatabaseException("Jobs could not be looked up", e);
        }
    }

    /** False if there is no such job; its failures went with it. */
    private boolean mayRead(Connection connection, long id, By by) throws SQLException {
        Optional<Place> place = desk.sql().operations().whereIs(connection, id);
        place.ifPresent(job -> desk.require(Action.READ, by, job));
        return place.isPresent();
    }

    /** What went wrong may quote what the job carries. */
    private @Nullable String error(JobRow row, By by) {
        String text = row.course().lastError();
        JobRow.Identity of = row.identity();
        return text == null
                        || desk.policy()
                                .allows(new Access(
                                        Action.READ,
                                        Target.JOB,
                                        by,
                                        String.valueOf(of.id()),
                                        of.kind(),
                                        of.queue(),
                                        of.subject()))
                ? text
                : AccessPolicy.HIDDEN;
    }

    private Job job(JobRow row, By by) {
        return new Job(
                row.identity().id(),
                row.identity().kind(),
                row.identity().queue(),
                JobState.of(row.identity().state()),
                row.identity().subject(),
                new Job.Progress(
                        Priority.ofLevel(row.course().priority()),
                        row.course().runAt(),
                        row.course().attempts(),
                        row.course().losses(),
                        row.course().maxAttempts(),
                        error(row, by),
                        row.course().createdAt(),
                        row.course().finishedAt()),
                new Job.Lease(row.held().owner(), row.held().until(), row.held().token()));
    }
}
