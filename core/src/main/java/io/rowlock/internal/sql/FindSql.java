package io.rowlock.internal.sql;

import io.rowlock.job.JobCursor;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks for jobs; no locks. Each search walks ranges of one index from their newest ends, about {@value #MOST_WALKED} rows
 * together, and filters what it met: one that finds little gives a short page and says where it stopped, and does not walk on.
 * Pages follow ids, which no change of a row moves, or times of ends, which only a revive takes away.
 */
public final class FindSql {
    static final int MOST_WALKED = 10_000;
    private static final int LEAST_WALKED = 100;
    private static final Set<JobState> ASIDE = EnumSet.of(JobState.PARKED, JobState.DEAD, JobState.CANCELLED);
    private static final Set<JobState> ENDED = EnumSet.of(JobState.COMPLETED, JobState.DEAD, JobState.CANCELLED);

    private static final String COLUMNS = " id, kind, queue, subject, state, created_at";

    /* $2: before this id; $4: so many of each range. If the planner saw the limit, it might sort the table without statistics. */
    private static final String BY_ID = " AND id < $2 ORDER BY id DESC LIMIT at_most.n) walk";

    private static final String WALK =
            " WITH walks AS MATERIALIZED (SELECT walk.* FROM unnest(ARRAY[$4::integer]) AS at_most(n)";

    /*
     * A range that gave as many as it might goes on behind its last row. What the others gave behind that place is left for the
     * next page: the edge is the newest of these last rows. Reads no table.
     */
    private static final String FILTERED = """
            ),
            edge AS MATERIALIZED (
              SELECT sort_at, id
              FROM (
                SELECT DISTINCT ON (part) sort_at, id, count(*) OVER (PARTITION BY part) AS n
                FROM walks
                ORDER BY part, sort_at, id) AS last
              WHERE n = $4
              ORDER BY sort_at DESC, id DESC
              LIMIT 1),
            found AS MATERIALIZED (
              SELECT id, sort_at
              FROM walks
              WHERE ($5::text[] IS NULL OR kind = ANY($5::text[])) AND ($6::text IS NULL OR queue = $6) AND ($7::text IS NULL OR subject = $7)
                AND ($8::text[] IS NULL OR state = ANY($8::text[]))
                AND ($9::timestamptz IS NULL OR created_at >= $9::timestamptz)
                AND ($10::timestamptz IS NULL OR created_at < $10::timestamptz)
                AND (NOT EXISTS (SELECT 1 FROM edge) OR (sort_at, id) >= (SELECT sort_at, id FROM edge))
              ORDER BY sort_at DESC, id DESC
              LIMIT $11)
            SELECT ARRAY(SELECT id FROM found ORDER BY sort_at DESC, id DESC) AS ids,
                   (SELECT sort_at FROM found ORDER BY sort_at, id LIMIT 1) AS found_at,
                   (SELECT sort_at FROM edge) AS edge_at, (SELECT id FROM edge) AS edge_id
            """;

    private static final String NO_TIME = "timestamptz '-infinity' AS sort_at,";

    /* Index: rowlock_job_subject, in its order. */
    static final String OF_SUBJECT =
            "/* rowlock:find-jobs-of-subject */" + WALK + " CROSS JOIN LATERAL (SELECT 1 AS part, " + NO_TIME + COLUMNS
                    + " FROM rowlock_job WHERE subject = $7" + BY_ID + FILTERED;

    /* Index: rowlock_job_aside, in its order, once for each state, queue and kind of $12, $13, $14. */
    static final String SET_ASIDE = "/* rowlock:find-jobs-aside */" + WALK
            + " CROSS JOIN unnest($12::text[], $13::text[], $14::text[]) WITH ORDINALITY AS lane(s, q, k, n)"
            + " CROSS JOIN LATERAL (SELECT lane.n AS part, " + NO_TIME + COLUMNS
            + " FROM rowlock_job WHERE state IN ('parked', 'dead', 'cancelled') AND state = lane.s AND queue = lane.q"
            + " AND kind = lane.k" + BY_ID + FILTERED;

    /* Index: rowlock_job_finished, in its order, once for each state of $12. $1: before this time, $3: from that on. */
    static final String FINISHED = "/* rowlock:find-finished-jobs */" + WALK
            + " CROSS JOIN unnest($12::text[]) WITH ORDINALITY AS lane(s, n)"
            + " CROSS JOIN LATERAL (SELECT lane.n AS part, finished_at AS sort_at," + COLUMNS
            + " FROM rowlock_job WHERE state = lane.s AND finished_at IS NOT NULL"
            + " AND (finished_at, id) < ($1::timestamptz, $2) AND finished_at >= $3::timestamptz"
            + " ORDER BY finished_at DESC, id DESC LIMIT at_most.n) walk" + FILTERED;

    /* Index: the primary key, in its order. */
    static final String ALL = "/* rowlock:find-jobs */" + WALK + " CROSS JOIN LATERAL (SELECT 1 AS part, " + NO_TIME
            + COLUMNS + " FROM rowlock_job WHERE true" + BY_ID + FILTERED;

    /* Index: rowlock_job_aside, from one state, queue and kind to the next. Rows: as many as there are of these. */
    static final String LANES = """
            /* rowlock:lanes-aside */
            WITH RECURSIVE lane(state, queue, kind) AS (
              (SELECT state, queue, kind
               FROM rowlock_job
               WHERE state IN ('parked', 'dead', 'cancelled')
               ORDER BY state, queue, kind
               LIMIT 1)
              UNION ALL
              SELECT n.state, n.queue, n.kind
              FROM lane
              CROSS JOIN LATERAL (
                SELECT j.state, j.queue, j.kind
                FROM rowlock_job j
                WHERE j.state IN ('parked', 'dead', 'cancelled') AND (j.state, j.queue, j.kind) > (lane.state, lane.queue, lane.kind)
                ORDER BY j.state, j.queue, j.kind
                LIMIT 1) n)
            SELECT state, queue, kind FROM lane LIMIT 10000
            """;

    private final Function<String, List<String>> namesOf;
    private final Sql ofSubject;
    private final Sql setAside;
    private final Sql finished;
    private final Sql all;
    private final Sql lanes;

    /** Of a kind those rows only that have its name. */
    public FindSql(Names names) {
        this(names, List::of);
    }

    /** @param namesOf all names under which rows of a kind may stand */
    public FindSql(Names names, Function<String, List<String>> namesOf) {
        this.namesOf = namesOf;
        this.ofSubject = new Sql(names, OF_SUBJECT);
        this.setAside = new Sql(names, SET_ASIDE);
        this.finished = new Sql(names, FINISHED);
        this.all = new Sql(names, ALL);
        this.lanes = new Sql(names, LANES);
    }

    /** Ids, the newest first, and where the next search goes on; null: there are no more. */
    public record Ids(List<Long> ids, @Nullable JobCursor next) {}

    /** A state, queue and kind of which jobs are set aside. */
    public record LaneAside(JobState state, String queue, String kind) {}

    /** All of these that there are. */
    public List<LaneAside> lanes(Connection connection) throws SQLException {
        return lanes.query(
                connection,
                row -> new LaneAside(
                        JobState.of(row.getString("state")), row.getString("queue"), row.getString("kind")));
    }

    /** At most a page of what the query asks for. */
    public Ids find(Connection connection, JobQuery query) throws SQLException {
        Set<JobState> states = query.states();
        if (query.byEnd()) {
            Set<JobState> ended = EnumSet.copyOf(ENDED);
            ended.removeIf(state -> !states.isEmpty() && !states.contains(state));
            return ended.isEmpty()
                    ? new Ids(List.of(), null)
                    : walk(finished, connection, query, ended.size(), texts(ended), null, null);
        }
        if (query.subject().isPresent()) {
            return walk(ofSubject, connection, query, 1, null, null, null);
        }
        if (states.isEmpty() || !ASIDE.containsAll(states)) {
            return walk(all, connection, query, 1, null, null, null);
        }
        List<LaneAside> of = lanesOf(connection, query);
        return of.isEmpty()
                ? new Ids(List.of(), null)
                : walk(
                        setAside,
                        connection,
                        query,
                        of.size(),
                        Sql.texts(Sql.column(of, lane -> lane.state().text())),
                        Sql.texts(Sql.column(of, LaneAside::queue)),
                        Sql.texts(Sql.column(of, LaneAside::kind)));
    }

    private List<LaneAside> lanesOf(Connection connection, JobQuery query) throws SQLException {
        if (query.queue().isPresent() && query.kind().isPresent()) {
            return query.states().stream()
                    .flatMap(state -> namesOf.apply(query.kind().get()).stream()
                            .map(kind -> new LaneAside(state, query.queue().get(), kind)))
                    .toList();
        }
        return lanes(connection).stream()
                .filter(lane -> query.states().contains(lane.state()))
                .filter(lane -> query.queue().map(lane.queue()::equals).orElse(true))
                .filter(lane -> query.kind()
                        .map(kind -> namesOf.apply(kind).contains(lane.kind()))
                        .orElse(true))
                .toList();
    }

    private Ids walk(
            Sql walk,
            Connection connection,
            JobQuery query,
            int ranges,
            @Nullable Object states,
            @Nullable Object queues,
            @Nullable Object kinds)
            throws SQLException {
        Place from = from(query);
        return walk.query(
                        connection,
                        row -> ids(row, query),
                        Sql.timestamp(from.at()),
                        from.id(),
                        Sql.timestamp(query.finishedFrom().orElse(Instant.MIN)),
                        Math.max(LEAST_WALKED, MOST_WALKED / ranges),
                        query.kind().map(namesOf).map(Sql::texts).orElse(null),
                        query.queue().orElse(null),
                        query.subject().orElse(null),
                        query.states().isEmpty() ? null : texts(query.states()),
                        Sql.timestamp(query.createdFrom().orElse(null)),
                        Sql.timestamp(query.createdBefore().orElse(null)),
                        query.pageSize(),
                        states,
                        queues,
                        kinds)
                .get(0);
    }

    /** Before which a walk begins. */
    private record Place(Instant at, long id) {}

    private static Place from(JobQuery query) {
        Instant before = query.finishedBefore().orElse(Instant.MAX);
        JobCursor after = query.after().orElse(null);
        if (after == null) {
            return new Place(before, query.byEnd() ? 0 : Long.MAX_VALUE);
        }
        Instant at = after.finishedAt();
        return at != null && !at.isBefore(before)
                ? new Place(before, 0)
                : new Place(at == null ? before : at, after.id());
    }

    private static Sql.ArrayOf texts(Set<JobState> states) {
        return Sql.texts(states.stream().map(JobState::text).toList());
    }

    private static Ids ids(ResultSet row, JobQuery query) throws SQLException {
        Array array = row.getArray("ids");
        List<Long> ids = new ArrayList<>(List.of((Long[]) array.getArray()));
        JobCursor next = null;
        long edge = row.getLong("edge_id");
        if (ids.size() == query.pageSize()) {
            next = cursor(row, "found_at", ids.get(ids.size() - 1), query);
        } else if (edge != 0) {
            next = cursor(row, "edge_at", edge, query);
        }
        return new Ids(ids, next);
    }

    private static JobCursor cursor(ResultSet row, String at, long id, JobQuery query) throws SQLException {
        return new JobCursor(query.byEnd() ? Sql.requiredInstant(row, at) : null, id);
    }
}
