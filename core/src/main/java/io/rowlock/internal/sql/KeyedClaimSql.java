package io.rowlock.internal.sql;

import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow;
import io.rowlock.internal.sql.ClaimSql.LaneScan;
import io.rowlock.internal.sql.EnqueueSql.Keys;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds due jobs with ordering or limit keys, and takes runs of them under the locks of these. */
public final class KeyedClaimSql {
    /*
     * Locks: none. Index: one range of rowlock_job_keyed, and of rowlock_job_keyed_suspect, per lane. Rows: at most as many
     * as the lanes' limits together, and $7 suspects per lane, so that these keep nothing else out. Rows to avoid go through
     * a hashed sub-select: an array would be searched for each row. The empty left join tells the statement's time even
     * when nothing is due.
     */
    static final String CANDIDATES = """
            /* rowlock:keyed-candidates */
            SELECT statement_timestamp() AS asked_at, c.n, c.id, c.queue, c.ordering_key, c.limit_key, c.losses, c.run_at
            FROM (SELECT 1) AS always
            LEFT JOIN (
              SELECT lane.n, lane.queue, due.id, due.ordering_key, due.limit_key, due.losses, due.run_at
              FROM unnest($1::text[], $2::text[], $3::integer[], $4::timestamptz[], $5::integer[])
                WITH ORDINALITY AS lane(queue, kind, priority, since, most, n)
              CROSS JOIN LATERAL (
                (SELECT j.id, j.ordering_key, j.limit_key, j.losses, j.run_at
                 FROM rowlock_job j
                 WHERE j.state = 'ready' AND (j.ordering_key IS NOT NULL OR j.limit_key IS NOT NULL) AND j.losses = 0
                   AND j.queue = lane.queue AND j.kind = lane.kind AND j.priority = lane.priority
                   AND j.run_at >= coalesce(lane.since, '-infinity') AND j.run_at <= statement_timestamp()
                   AND j.locked_by IS NULL AND j.id NOT IN (SELECT unnest($6::bigint[]))
                 ORDER BY j.run_at, j.id
                 LIMIT lane.most)
                UNION ALL
                (SELECT j.id, j.ordering_key, j.limit_key, j.losses, j.run_at
                 FROM rowlock_job j
                 WHERE j.state = 'ready' AND (j.ordering_key IS NOT NULL OR j.limit_key IS NOT NULL) AND j.losses > 0
                   AND j.queue = lane.queue AND j.kind = lane.kind AND j.priority = lane.priority
                   AND j.run_at <= statement_timestamp()
                   AND j.locked_by IS NULL AND j.id NOT IN (SELECT unnest($6::bigint[]))
                 ORDER BY j.run_at, j.id
                 LIMIT $7)) due
              WHERE NOT coalesce(
                (SELECT p.paused_at IS NOT NULL FROM rowlock_queue p WHERE p.queue = lane.queue LIMIT 1), false)) c ON true
            """;

    /*
     * The keys, and the limits of limit keys, are locked. Locks: the rows, FOR NO KEY UPDATE in id order, skipping what is locked; a run ends before the
     * first row that could not be locked. Index: the primary key. Rows: as many as ids to take and to park, and one per
     * key, by its place: from a sub-select, as the planner would walk the whole table for a long list of places. The run of a key is noted in the key's row, so that its leased jobs can be found whatever commits before them.
     */
    static final String TAKE_RUNS = """
            /* rowlock:take-runs */
            WITH chosen AS MATERIALIZED (
              SELECT c.id, c.n FROM unnest($3::bigint[], $4::integer[]) AS c(id, n)),
            locked AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY($3::bigint[]) AND state IN ('ready', 'parked') AND locked_by IS NULL
                AND run_at <= clock_timestamp()
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED),
            due AS MATERIALIZED (
              SELECT id
              FROM (
                SELECT c.id, bool_and(l.id IS NOT NULL) OVER (PARTITION BY c.n ORDER BY c.id) AS unbroken
                FROM chosen c LEFT JOIN locked l ON l.id = c.id) r
              WHERE unbroken),
            parked AS (
              UPDATE rowlock_job
              SET state = 'parked', limited = false
              WHERE id = ANY(ARRAY(
                SELECT id
                FROM rowlock_job
                WHERE id = ANY($5::bigint[]) AND state = 'ready' AND locked_by IS NULL
                ORDER BY id
                FOR NO KEY UPDATE SKIP LOCKED))),
            held_back AS (
              UPDATE rowlock_job
              SET state = 'parked', limited = true
              WHERE id = ANY(ARRAY(
                SELECT id
                FROM rowlock_job
                WHERE id = ANY($9::bigint[]) AND state IN ('ready', 'parked') AND locked_by IS NULL
                ORDER BY id
                FOR NO KEY UPDATE SKIP LOCKED))),
            noted AS (
              UPDATE rowlock_key
              SET run_from = ($7::bigint[])[array_position($6::text[]::tid[], ctid)],
                  run_to = ($8::bigint[])[array_position($6::text[]::tid[], ctid)]
              WHERE ctid = ANY(ARRAY(SELECT unnest($6::text[])::tid)))
            UPDATE rowlock_job
            SET state = 'ready', locked_by = $1, locked_until = clock_timestamp() + $2::bigint * interval '1 microsecond',
                token = token + 1, attempts = attempts + 1, waiting_key = NULL
            WHERE id = ANY(ARRAY(SELECT id FROM due))
            RETURNING id, queue, kind, priority, subject, run_at, token, attempts, losses, max_attempts, ordering_key,
                      payload::text AS payload, headers::text AS headers, dedup_mode, statement_timestamp() AS asked_at
            """;

    /* Locks: the rows that can be locked, in id order, until the statement ends. Index: the primary key. */
    static final String UNLOCKED = """
            /* rowlock:unlocked */
            SELECT id
            FROM rowlock_job
            WHERE id = ANY($1::bigint[])
            ORDER BY id
            FOR NO KEY UPDATE SKIP LOCKED
            """;

    private static final int SUSPECTS = 20;

    private final Sql candidates;
    private final Sql takeRuns;
    private final Sql unlocked;

    public KeyedClaimSql(Names names) {
        this.candidates = new Sql(names, CANDIDATES);
        this.takeRuns = new Sql(names, TAKE_RUNS);
        this.unlocked = new Sql(names, UNLOCKED);
    }

    /** A due job of the lane with this number. */
    public record Candidate(int lane, long id, String queue, Keys keys, int losses, Instant runAt) {
        /** The ordering key in its queue, or null. */
        public @Nullable OrderingKey key() {
            return keys.ordering() == null ? null : new OrderingKey(queue, keys.ordering());
        }
    }

    /** Due jobs in the order of the lanes and of their time, and when the database was asked. */
    public record Candidates(Instant askedAt, List<Candidate> jobs) {}

    /** The jobs to take, in their order: of one locked ordering key, or a single one without. */
    public record ChosenRun(
            KeySql.@Nullable LockedKey key, @Nullable LimitKey limit, List<Long> ids) {}

    /** Which jobs to take as runs; which to park behind others of their ordering key, and which for want of room. */
    public record Chosen(List<ChosenRun> runs, Collection<Long> park, Collection<Long> holdBack) {
        /** Whether nothing is to be done. */
        public boolean isEmpty() {
            return runs.isEmpty() && park.isEmpty() && holdBack.isEmpty();
        }
    }

    /** Looks for due jobs nobody has, at most so many per lane and some suspects, none of those to avoid. */
    public Candidates candidates(Connection connection, List<LaneScan> lanes, Collection<Long> avoid)
            throws SQLException {
        record Found(Instant askedAt, @Nullable Candidate job) {}
        List<Found> found = candidates.query(
                connection,
                row -> new Found(Sql.requiredInstant(row, "asked_at"), candidate(row)),
                Sql.texts(Sql.column(lanes, LaneScan::queue)),
                Sql.texts(Sql.column(lanes, LaneScan::kind)),
                Sql.integers(Sql.column(lanes, LaneScan::priority)),
                Sql.instants(Sql.column(lanes, LaneScan::since)),
                Sql.integers(Sql.column(lanes, LaneScan::most)),
                Sql.bigints(avoid),
                SUSPECTS);
        List<Candidate> jobs = new ArrayList<>();
        for (Found each : found) {
            if (each.job() != null) {
                jobs.add(each.job());
            }
        }
        jobs.sort(Comparator.comparingInt(Candidate::lane)
                .thenComparing(Candidate::runAt)
                .thenComparingLong(Candidate::id));
        return new Candidates(found.get(0).askedAt(), jobs);
    }

    /** Takes the runs and parks the other jobs; gives what was taken, in the order of ids. */
    public List<ClaimedRow> take(Connection connection, Claimant by, Chosen chosen) throws SQLException {
        List<ChosenRun> runs = chosen.runs();
        List<ChosenRun> ordered = runs.stream().filter(run -> run.key() != null).toList();
        List<Long> ids = new ArrayList<>();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            for (Long id : runs.get(i).ids()) {
                ids.add(id);
                numbers.add(i);
            }
        }
        List<ClaimedRow> taken = new ArrayList<>(takeRuns.query(
                connection,
                row -> ClaimSql.row(row, Sql.requiredInstant(row, "asked_at")),
                by.owner(),
                Sql.micros(by.lease()),
                Sql.bigints(ids),
                Sql.integers(numbers),
                Sql.bigints(chosen.park()),
                Sql.texts(Sql.column(
                        ordered, run -> Objects.requireNonNull(run.key()).place())),
                Sql.bigints(Sql.column(ordered, run -> run.ids().get(0))),
                Sql.bigints(Sql.column(ordered, run -> run.ids().get(run.ids().size() - 1))),
                Sql.bigints(chosen.holdBack())));
        taken.sort(Comparator.comparingLong(ClaimedRow::id));
        return taken;
    }

    /** Which of the rows no other transaction has locked. */
    public Set<Long> unlocked(Connection connection, Collection<Long> ids) throws SQLException {
        return Set.copyOf(unlocked.query(connection, row -> row.getLong("id"), Sql.bigints(ids)));
    }

    private static @Nullable Candidate candidate(ResultSet row) throws SQLException {
        return row.getObject("id") == null
                ? null
                : new Candidate(
                        row.getInt("n") - 1,
                        row.getLong("id"),
                        row.getString("queue"),
                        new Keys(row.getString("ordering_key"), row.getString("limit_key")),
                        row.getInt("losses"),
                        Sql.requiredInstant(row, "run_at"));
    }
}
