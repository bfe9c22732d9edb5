package io.rowlock.internal.sql;

import io.rowlock.operation.Operation;
import io.rowlock.operation.OperationFilter;
import io.rowlock.operation.OperationFilter.Sort;
import io.rowlock.operation.OperationPage;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What people did, as people read it. No locks. Each statement looks at {@value #LOOKED_AT} rows at most, those with the highest
 * ids below $1, and gives of them those that pass, at most $7; and, in each of its rows, how far it has looked: one row at least.
 */
public final class OperationBookSql {
    private static final int LOOKED_AT = 10_000;

    private static final String COLUMNS =
            "o.id, o.at, o.who, o.why, o.what, o.job_id, o.saga, o.step, o.schedule, o.queue, o.alert, o.lease, o.principal,"
                    + " o.request_key";

    private static final String BELOW = "o.id < coalesce($1::bigint, 9223372036854775807)";

    private static String page(String name, String from) {
        return "/* rowlock:" + name + " */ WITH looked AS MATERIALIZED (SELECT " + COLUMNS + " FROM " + from
                + " ORDER BY o.id DESC LIMIT " + LOOKED_AT + ")"
                + " SELECT seen.n, seen.lowest, seen.earliest, " + COLUMNS
                + " FROM (SELECT count(*) AS n, min(id) AS lowest, min(at) AS earliest FROM looked) AS seen"
                + " LEFT JOIN (SELECT " + COLUMNS + " FROM looked o"
                + " WHERE ($3::text IS NULL OR o.who = $3::text) AND ($4::text IS NULL OR o.what = $4::text)"
                + " AND ($5::timestamptz IS NULL OR o.at >= $5::timestamptz)"
                + " AND ($6::timestamptz IS NULL OR o.at < $6::timestamptz)"
                + " AND ($8::text IS NULL OR o.queue = $8::text)"
                + " ORDER BY o.id DESC LIMIT $7) AS o ON true ORDER BY o.id DESC";
    }

    /* Index: the primary key, backwards. */
    static final String NEWEST = page("operations", "rowlock_operation o WHERE " + BELOW);

    /* Index: rowlock_operation_job. Rows read: those of the job. */
    static final String OF_JOB =
            page("operations-on-job", "rowlock_operation o WHERE o.job_id = $2::bigint AND " + BELOW);

    /* Index: rowlock_operation_saga. Rows read: those of the saga. */
    static final String OF_SAGA =
            page("operations-on-saga", "rowlock_operation o WHERE o.saga = $2::text AND " + BELOW);

    /* Index: rowlock_operation_schedule_id. Rows read: those of the schedule. */
    static final String OF_SCHEDULE =
            page("operations-on-schedule", "rowlock_operation o WHERE o.schedule = $2::text AND " + BELOW);

    /* Index: rowlock_operation_alert. Rows read: those of the alert. */
    static final String OF_ALERT =
            page("operations-on-alert", "rowlock_operation o WHERE o.alert = $2::bigint AND " + BELOW);

    /* Index: rowlock_operation_lease_id. Rows read: those of the lease. */
    static final String OF_LEASE =
            page("operations-on-lease", "rowlock_operation o WHERE o.lease = $2::text AND " + BELOW);

    private static String each(String of, String column) {
        return "(SELECT " + COLUMNS + " FROM (SELECT id FROM " + of
                + " WHERE subject = $2::text ORDER BY id DESC LIMIT 1000) AS about CROSS JOIN LATERAL (SELECT "
                + COLUMNS
                + " FROM rowlock_operation o WHERE o." + column + " = about.id AND " + BELOW
                + " ORDER BY o." + column + " DESC, o.id DESC LIMIT 1000) AS o)";
    }

    /*
     * What was done to the jobs, and to the sagas; an operation names one of them. Indexes: rowlock_job_subject and
     * rowlock_saga_subject, then rowlock_operation_job and _saga once for each. Rows read: 1,000 jobs and sagas at most, and of
     * each 1,000.
     */
    static final String OF_SUBJECT = page(
            "operations-on-subject",
            "(" + each("rowlock_job", "job_id") + " UNION ALL " + each("rowlock_saga", "saga") + ") AS o");

    private final Map<Sort, Sql> on = new EnumMap<>(Sort.class);
    private final Sql newest;

    public OperationBookSql(Names names) {
        this.newest = new Sql(names, NEWEST);
        on.put(Sort.QUEUE, newest);
        on.put(Sort.JOB, new Sql(names, OF_JOB));
        on.put(Sort.SAGA, new Sql(names, OF_SAGA));
        on.put(Sort.SCHEDULE, new Sql(names, OF_SCHEDULE));
        on.put(Sort.ALERT, new Sql(names, OF_ALERT));
        on.put(Sort.LEASE, new Sql(names, OF_LEASE));
        on.put(Sort.SUBJECT, new Sql(names, OF_SUBJECT));
    }

    /** How far a statement has looked, and one of those that pass, if any does. */
    private record Line(
            long looked,
            long lowest,
            @Nullable Instant earliest,
            @Nullable Operation operation) {}

    /** The newest first, of those with a lower id. */
    public OperationPage page(Connection connection, OperationFilter filter, @Nullable Long below, int most)
            throws SQLException {
        OperationFilter.On thing = filter.on();
        List<Line> lines = (thing == null ? newest : on.getOrDefault(thing.sort(), newest))
                .query(
                        connection,
                        OperationBookSql::line,
                        below,
                        thing == null ? null : parameter(thing),
                        filter.who(),
                        filter.what(),
                        Sql.timestamp(filter.since()),
                        Sql.timestamp(filter.before()),
                        most,
                        thing != null && thing.sort() == Sort.QUEUE ? thing.name() : null);
        List<Operation> found = new ArrayList<>();
        for (Line line : lines) {
            if (line.operation() != null) {
                found.add(line.operation());
            }
        }
        return new OperationPage(found, end(lines.get(0), found, filter.since(), most));
    }

    private static Object parameter(OperationFilter.On thing) {
        return thing.sort() == Sort.JOB || thing.sort() == Sort.ALERT ? Long.valueOf(thing.name()) : thing.name();
    }

    private static @Nullable Long end(Line seen, List<Operation> found, @Nullable Instant since, int most) {
        if (found.size() == most) {
            return found.get(most - 1).id();
        }
        Instant earliest = seen.earliest();
        boolean past = since != null && earliest != null && earliest.isBefore(since);
        return seen.looked() < LOOKED_AT || past ? null : seen.lowest();
    }

    private static Line line(ResultSet row) throws SQLException {
        long id = row.getLong("id");
        return new Line(
                row.getLong("n"),
                row.getLong("lowest"),
                Sql.instant(row, "earliest"),
                id == 0 ? null : operation(row, id));
    }

    private static Operation operation(ResultSet row, long id) throws SQLException {
        return new Operation(
                id,
                Sql.requiredInstant(row, "at"),
                row.getString("who"),
                row.getString("why"),
                row.getString("what"),
                new Operation.On(
                        row.getObject("job_id", Long.class),
                        row.getString("saga"),
                        row.getString("step"),
                        row.getString("schedule"),
                        row.getString("queue"),
                        row.getObject("alert", Long.class),
                        row.getString("lease"),
                        answers(row)));
    }

    private static Operation.@Nullable Answers answers(ResultSet row) throws SQLException {
        String principal = row.getString("principal");
        return principal == null ? null : new Operation.Answers(principal, row.getString("request_key"));
    }
}
