package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Takes due jobs under a lease. Each statement is its own transaction, in READ COMMITTED. */
public final class ClaimSql {
    /*
     * What a claim writes. The lease columns stand in no index and no predicate, so this is a HOT update as long as the
     * page has room (fillfactor). The rows are addressed by id = ANY(array): a join back to the CTE walks the whole
     * primary key once statistics are stale. The empty left join tells the statement's time even when nothing is due.
     */
    private static final String TAKE = """
            , taken AS (
              UPDATE rowlock_job
              SET locked_by = $1, locked_until = clock_timestamp() + $2::bigint * interval '1 microsecond',
                  token = token + 1, attempts = attempts + 1, waiting_key = NULL
              WHERE id = ANY(ARRAY(SELECT id FROM due))
              RETURNING id, queue, kind, priority, subject, run_at, token, attempts, losses, max_attempts, ordering_key,
                        payload::text AS payload, headers::text AS headers, dedup_mode)
            SELECT statement_timestamp() AS asked_at, taken.*
            FROM (SELECT 1) AS always LEFT JOIN taken ON true
            """;

    /*
     * Locks: the claimed rows, FOR NO KEY UPDATE, in index order, skipping what is locked. Index: one range of
     * rowlock_job_due per lane, then the primary key. Rows: at most the sum of free. The scan is bounded by
     * statement_timestamp(), as a volatile clock_timestamp() is no index condition (measured 282 ms against 0.1 ms).
     * The limits bound a lane, a share of a queue's slots, and a queue, from within; all stop pulling, so no row is locked
     * that is not taken. Shares and lanes are scanned in the order given: the joins are nested loops.
     */
    static final String CLAIM_DUE = """
            /* rowlock:claim */
            WITH due AS MATERIALIZED (
              SELECT picked.id
              FROM unnest($3::text[], $4::integer[]) AS q(queue, free)
              CROSS JOIN LATERAL (
                SELECT shared.id
                FROM unnest($5::text[], $6::integer[]) WITH ORDINALITY AS share(queue, most, n)
                CROSS JOIN LATERAL (
                  SELECT c.id
                  FROM unnest($7::integer[], $8::text[], $9::integer[], $10::timestamptz[], $11::integer[])
                    AS lane(share, kind, priority, since, most)
                  CROSS JOIN LATERAL (
                    SELECT j.id
                    FROM rowlock_job j
                    WHERE j.state = 'ready' AND j.ordering_key IS NULL AND j.limit_key IS NULL AND j.losses = 0
                      AND j.queue = q.queue AND j.kind = lane.kind AND j.priority = lane.priority
                      AND j.run_at >= coalesce(lane.since, '-infinity') AND j.run_at <= statement_timestamp()
                      AND j.locked_by IS NULL
                    ORDER BY j.run_at, j.id
                    LIMIT lane.most
                    FOR NO KEY UPDATE SKIP LOCKED) c
                  WHERE lane.share = share.n
                  LIMIT share.most) shared
                WHERE share.queue = q.queue
                LIMIT q.free) picked
              WHERE NOT coalesce((SELECT p.paused_at IS NOT NULL FROM rowlock_queue p WHERE p.queue = q.queue LIMIT 1), false))
            """ + TAKE;

    /*
     * The same for rows a sweep found by walking: late ones, or one suspect. Index: the primary key. Rows: as many as
     * ids. What another worker took meanwhile is no longer unowned and is left out; so is what was moved to a queue or
     * kind that this worker does not serve, or has become a suspect since. IS TRUE keeps other indexes away.
     */
    static final String CLAIM_FOUND = """
            /* rowlock:claim-found */
            WITH due AS MATERIALIZED (
              SELECT id
              FROM rowlock_job
              WHERE id = ANY($3::bigint[]) AND state = 'ready' AND locked_by IS NULL AND run_at <= statement_timestamp()
                AND ordering_key IS NULL AND limit_key IS NULL
                AND (losses = 0 OR id = ANY($4::bigint[])) IS TRUE
                AND (queue = ANY($5::text[])) IS TRUE AND (kind = ANY($6::text[])) IS TRUE
                AND NOT coalesce((SELECT p.paused_at IS NOT NULL FROM rowlock_queue p WHERE p.queue = rowlock_job.queue LIMIT 1), false)
              ORDER BY id
              FOR NO KEY UPDATE SKIP LOCKED)
            """ + TAKE;

    /*
     * For workers cranked by hand. Locks: the rows, skipping what is locked. Rows: at most $3. Index: a range of
     * rowlock_job_due or _suspect per queue and kind.
     */
    static final String BRING_FORWARD = """
            /* rowlock:bring-forward */
            UPDATE rowlock_job
            SET run_at = clock_timestamp()
            WHERE id = ANY(ARRAY(
              SELECT id
              FROM rowlock_job
              WHERE state = 'ready' AND locked_by IS NULL AND queue = ANY($1::text[]) AND kind = ANY($2::text[])
                AND run_at > statement_timestamp()
              ORDER BY run_at, id
              LIMIT $3
              FOR NO KEY UPDATE SKIP LOCKED))
            """;

    private final Sql claimDue;
    private final Sql claimFound;
    private final Sql bringForward;

    public ClaimSql(Names names) {
        this.claimDue = new Sql(names, CLAIM_DUE);
        this.claimFound = new Sql(names, CLAIM_FOUND);
        this.bringForward = new Sql(names, BRING_FORWARD);
    }

    /** Who claims, and for how long. */
    public record Claimant(String owner, Duration lease) {}

    /** A lane to scan: from where (null: from its beginning) and for how many rows. */
    public record LaneScan(
            String queue,
            String kind,
            int priority,
            @Nullable Instant since,
            int most) {}

    /** Lanes of a queue that may take so many of its slots together, in their order. */
    public record Share(String queue, int most, List<LaneScan> lanes) {}

    /** A job as it was claimed; askedAt is the time of the claim by the database's clock. */
    public record ClaimedRow(
            Lane lane,
            long id,
            @Nullable String orderingKey,
            Instant runAt,
            Instant askedAt,
            Turn turn,
            Contents contents) {
        /** The ordering key of the job in its queue, or null. */
        public @Nullable OrderingKey key() {
            return orderingKey == null ? null : new OrderingKey(lane.queue(), orderingKey);
        }

        /** Where it stood. */
        public record Lane(String queue, String kind, int priority) {}

        /** Which attempt this is, and under which token. */
        public record Turn(
                long token,
                int attempt,
                int losses,
                @Nullable Integer maxAttempts) {}

        /** What was written with it; deduplicated if it has a dedup key. */
        public record Contents(
                @Nullable String subject,
                String payload,
                @Nullable String headers,
                boolean deduplicated) {}
    }

    /** What a claim took, and when the database was asked. */
    public record Claimed(Instant askedAt, List<ClaimedRow> rows) {}

    /** Claims due jobs, share after share, at most so many per queue. Rows come sorted by priority, time and id. */
    public Claimed claim(Connection connection, Claimant by, Map<String, Integer> free, List<Share> shares)
            throws SQLException {
        List<String> queues = List.copyOf(free.keySet());
        List<LaneScan> lanes = new ArrayList<>();
        List<Integer> shareOf = new ArrayList<>();
        for (int i = 0; i < shares.size(); i++) {
            lanes.addAll(shares.get(i).lanes());
            shareOf.addAll(Collections.nCopies(shares.get(i).lanes().size(), i + 1));
        }
        return claimed(claimDue.query(
                connection,
                ClaimSql::answer,
                by.owner(),
                Sql.micros(by.lease()),
                Sql.texts(queues),
                Sql.integers(queues.stream().map(free::get).toList()),
                Sql.texts(Sql.column(shares, Share::queue)),
                Sql.integers(Sql.column(shares, Share::most)),
                Sql.integers(shareOf),
                Sql.texts(Sql.column(lanes, LaneScan::kind)),
                Sql.integers(Sql.column(lanes, LaneScan::priority)),
                Sql.instants(Sql.column(lanes, LaneScan::since)),
                Sql.integers(Sql.column(lanes, LaneScan::most))));
    }

    /** Rows that a sweep found: all of them, which of them are suspects, and where they may stand now. */
    public record FoundRows(List<Long> ids, List<Long> suspects, Collection<String> queues, Collection<String> kinds) {}

    /** Claims those of the given jobs that are still due and nobody's. */
    public Claimed claimFound(Connection connection, Claimant by, FoundRows found) throws SQLException {
        return claimed(claimFound.query(
                connection,
                ClaimSql::answer,
                by.owner(),
                Sql.micros(by.lease()),
                Sql.bigints(found.ids()),
                Sql.bigints(found.suspects()),
                Sql.texts(found.queues()),
                Sql.texts(found.kinds())));
    }

    /** Makes waiting jobs due now; gives how many. */
    public int bringForward(Connection connection, Collection<String> queues, Collection<String> kinds, int most)
            throws SQLException {
        return bringForward.update(connection, Sql.texts(queues), Sql.texts(kinds), most);
    }

    private record Answer(Instant askedAt, @Nullable ClaimedRow row) {}

    private static Claimed claimed(List<Answer> answers) {
        List<ClaimedRow> rows = new ArrayList<>(answers.size());
        for (Answer answer : answers) {
            if (answer.row() != null) {
                rows.add(answer.row());
            }
        }
        rows.sort((a, b) -> {
            int priority = Integer.compare(a.lane().priority(), b.lane().priority());
            int time = priority != 0 ? priority : a.runAt().compareTo(b.runAt());
            return time != 0 ? time : Long.compare(a.id(), b.id());
        });
        return new Claimed(answers.get(0).askedAt(), rows);
    }

    private static Answer answer(ResultSet row) throws SQLException {
        Instant askedAt = Sql.requiredInstant(row, "asked_at");
        return new Answer(askedAt, row.getObject("id") == null ? null : row(row, askedAt));
    }

    static ClaimedRow row(ResultSet row, Instant askedAt) throws SQLException {
        return new ClaimedRow(
                new ClaimedRow.Lane(row.getString("queue"), row.getString("kind"), row.getInt("priority")),
                row.getLong("id"),
                row.getString("ordering_key"),
                Sql.requiredInstant(row, "run_at"),
                askedAt,
                new ClaimedRow.Turn(
                        row.getLong("token"),
                        row.getInt("attempts"),
                        row.getInt("losses"),
                        row.getObject("max_attempts", Integer.class)),
                new ClaimedRow.Contents(
                        row.getString("subject"),
                        row.getString("payload"),
                        row.getString("headers"),
                        row.getString("dedup_mode") != null));
    }
}
