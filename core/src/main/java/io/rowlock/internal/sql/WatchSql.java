package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a person is alerted of by looking: each statement about once a minute, by one process at a time. No locks on rows. */
public final class WatchSql {
    /* Until the end of the transaction; no other process looks or raises meanwhile. Who has the lock bounds its further statements. */
    static final String TRY_LOCK = """
            /* rowlock:lock-watch */
            SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended($1, 7243389019))
                        THEN set_config('statement_timeout', $2, true) IS NOT NULL
                        ELSE false END AS ok
            """;

    /*
     * Index: the front of each lane, $5 rows of it, leased ones too: they stand there. Where all of those are leased, jobs are
     * begun. No time is subtracted, as somebody's SQL may have written
     * -infinity. Rows: one for each lane at most.
     */
    static final String LAG = """
            /* rowlock:watch-lag */
            SELECT l.queue, l.kind, min(front.run_at) AS since, min(front.id) AS job
            FROM unnest($1::text[], $2::text[], $3::integer[]) AS l(queue, kind, priority)
            CROSS JOIN LATERAL (
              SELECT first.id, first.run_at
              FROM (
                SELECT id, run_at, locked_by
                FROM rowlock_job
                WHERE queue = l.queue AND kind = l.kind AND priority = l.priority
                  AND state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses = 0
                  AND run_at <= statement_timestamp()
                ORDER BY run_at, id
                LIMIT $5) first
              WHERE first.locked_by IS NULL
              ORDER BY first.run_at, first.id
              LIMIT 1) front
            WHERE front.run_at < statement_timestamp() - $4::bigint * interval '1 microsecond'
            GROUP BY l.queue, l.kind
            ORDER BY since
            """;

    /* As LAG, for jobs with ordering or limit keys; those that wait for others of their key are parked. */
    static final String LAG_KEYED = LAG.replace("watch-lag", "watch-keyed-lag")
            .replace(
                    "ordering_key IS NULL AND limit_key IS NULL AND losses = 0",
                    "(ordering_key IS NOT NULL OR limit_key IS NOT NULL)");

    /*
     * A loose scan: from lane to lane through the due index, at most 1,000 of them, however many rows they have; then the front
     * of those that are not the worker's own, 100 rows of each level. Nobody is at work there if none of these has a lease, or
     * had one until lately. An own lane is one of an own queue and an own kind.
     */
    static final String FOREIGN = """
            /* rowlock:watch-foreign */
            WITH RECURSIVE lane AS (
              (SELECT queue, kind, 1 AS nth
               FROM rowlock_job
               WHERE state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses = 0
               ORDER BY queue, kind
               LIMIT 1)
              UNION ALL
              SELECT next.queue, next.kind, lane.nth + 1
              FROM lane
              CROSS JOIN LATERAL (
                SELECT j.queue, j.kind
                FROM rowlock_job j
                WHERE state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses = 0
                  AND (j.queue, j.kind) > (lane.queue, lane.kind)
                ORDER BY j.queue, j.kind
                LIMIT 1) next
              WHERE lane.nth < 1000)
            SELECT lane.queue, lane.kind, front.since, front.job
            FROM lane
            CROSS JOIN LATERAL (
              SELECT min(first.run_at) AS since, min(first.id) AS job,
                     count(*) FILTER (WHERE first.locked_until > statement_timestamp() - $3::bigint * interval '1 microsecond') AS held
              FROM unnest(ARRAY[0, 1, 2]) AS level(priority)
              CROSS JOIN LATERAL (
                SELECT id, run_at, locked_until
                FROM rowlock_job
                WHERE queue = lane.queue AND kind = lane.kind AND priority = level.priority
                  AND state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses = 0
                  AND run_at <= statement_timestamp()
                ORDER BY run_at, id
                LIMIT 100) first) front
            WHERE NOT (lane.queue = ANY($1::text[]) AND lane.kind = ANY($2::text[]))
              AND front.held = 0 AND front.since < statement_timestamp() - $3::bigint * interval '1 microsecond'
              AND NOT EXISTS (SELECT 1 FROM rowlock_queue q WHERE q.queue = lane.queue AND q.paused_at IS NOT NULL)
            """;

    /* As FOREIGN, for jobs with ordering or limit keys. */
    static final String FOREIGN_KEYED = FOREIGN.replace("watch-foreign", "watch-keyed-foreign")
            .replace(
                    "ordering_key IS NULL AND limit_key IS NULL AND losses = 0",
                    "(ordering_key IS NOT NULL OR limit_key IS NOT NULL)");

    /*
     * What keeps vacuum from removing rows of this database: sessions with a snapshot or a transaction number of their own
     * (but vacuum, which does not count), and prepared transactions. Of sessions of other roles the server shows neither
     * to a role without pg_read_all_stats. Never the query: it may hold what is nobody's business.
     */
    static final String PINNED = """
            /* rowlock:watch-pinned */
            SELECT 'transaction' AS what, a.xact_start AS since, a.pid, coalesce(a.application_name, '') AS name,
                   coalesce(a.usename, '') AS owner, coalesce(a.state, '') AS state
            FROM pg_stat_activity a
            WHERE a.datname = current_database() AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
              AND a.xact_start < statement_timestamp() - $1::bigint * interval '1 microsecond'
              AND a.backend_type <> 'walsender'
              AND a.pid NOT IN (SELECT v.pid FROM pg_stat_progress_vacuum v)
            UNION ALL
            SELECT 'prepared transaction', p.prepared, 0, p.gid, p.owner::text, 'prepared'
            FROM pg_prepared_xacts p
            WHERE p.database = current_database()
              AND p.prepared < statement_timestamp() - $1::bigint * interval '1 microsecond'
            ORDER BY since
            LIMIT 10
            """;

    /* The same of replication slots and of standbys that send their oldest snapshot back; they say not since when. */
    static final String HORIZONS = """
            /* rowlock:watch-horizons */
            SELECT 'replication slot' AS what, s.slot_name::text AS name, s.xmin::text AS xmin, age(s.xmin) AS behind,
                   s.active AS connected
            FROM pg_replication_slots s
            WHERE s.xmin IS NOT NULL
            UNION ALL
            SELECT 'standby', a.application_name || ' (pid ' || a.pid || ')', a.backend_xmin::text, age(a.backend_xmin), true
            FROM pg_stat_activity a
            WHERE a.backend_type = 'walsender' AND a.backend_xmin IS NOT NULL
            ORDER BY behind DESC
            LIMIT 10
            """;

    /*
     * Index: that of attempts that lost their worker, the last 2,000 of an hour; then the job's primary key, one at a time. A
     * worker that dies loses many jobs at once: those of one worker in one minute count as once.
     */
    static final String LOST = """
            /* rowlock:watch-lost */
            SELECT j.kind, count(DISTINCT (f.worker, date_trunc('minute', f.at))) AS times, max(f.job_id) AS job,
                   count(DISTINCT f.job_id) AS jobs, max(f.worker) AS worker
            FROM (
              SELECT job_id, worker, at
              FROM rowlock_job_failure
              WHERE error_class = 'worker lost' AND at > statement_timestamp() - interval '1 hour'
              ORDER BY at DESC
              LIMIT 2000) f
            CROSS JOIN LATERAL (SELECT kind FROM rowlock_job WHERE id = f.job_id OFFSET 0) j
            WHERE j.kind = ANY($1::text[])
            GROUP BY j.kind
            HAVING count(DISTINCT (f.worker, date_trunc('minute', f.at))) > $2
            """;

    static final String CLOCK = "/* rowlock:watch-clock */ SELECT clock_timestamp() AS now";

    /*
     * Of what lasts: which kinds nobody is to be told of again now. An open row counts up every ten minutes; who has taken it
     * over knows for an hour. Under the watch's lock. Index: the unique one.
     */
    static final String QUIET = """
            /* rowlock:watch-quiet */
            SELECT kind
            FROM rowlock_alert
            WHERE cause = $1 AND kind = ANY($2::text[]) AND bucket > statement_timestamp() - interval '2 hours'
              AND CASE WHEN acknowledged_at IS NULL THEN last_at > statement_timestamp() - interval '10 minutes'
                       ELSE acknowledged_at > statement_timestamp() - interval '1 hour' END
            """;

    private static final int FRONT = 1_000;

    private final Names names;
    private final String lockName;

    public WatchSql(Names names) {
        this.names = names;
        this.lockName = names.schema() + '.' + names.prefix();
    }

    /** A lane of the worker. */
    public record Lane(String queue, String kind, int priority) {}

    /** A lane's front: its oldest job that nobody has begun. */
    public record Front(String queue, String kind, Instant since, long job) {}

    /** A transaction that keeps old rows; pid 0: a prepared one, and name is its gid. */
    public record Pin(String what, @Nullable Instant since, int pid, String name, String owner, String state) {}

    /** What keeps old rows without a time: how many transactions it is behind. */
    public record Horizon(String what, String name, String xmin, long behind, boolean connected) {}

    /** How often jobs of a kind lost a worker. */
    public record Lost(String kind, int times, int jobs, long job, String worker) {}

    /** Whether this transaction looks now, and no other. */
    public boolean tryLock(Connection connection, Duration longestStatement) throws SQLException {
        return new Sql(names, TRY_LOCK)
                .query(connection, row -> row.getBoolean("ok"), lockName, longestStatement.toMillis() + "ms")
                .get(0);
    }

    public List<Front> lags(Connection connection, List<Lane> lanes, Duration limit) throws SQLException {
        List<Front> lags = new ArrayList<>();
        for (String statement : List.of(LAG, LAG_KEYED)) {
            lags.addAll(new Sql(names, statement)
                    .query(
                            connection,
                            WatchSql::front,
                            Sql.texts(Sql.column(lanes, Lane::queue)),
                            Sql.texts(Sql.column(lanes, Lane::kind)),
                            Sql.integers(Sql.column(lanes, Lane::priority)),
                            Sql.micros(limit),
                            FRONT));
        }
        return lags;
    }

    /** Lanes that are not of these queues and kinds, where nobody is at work. */
    public List<Front> foreign(
            Connection connection, Collection<String> queues, Collection<String> kinds, Duration limit)
            throws SQLException {
        List<Front> foreign = new ArrayList<>();
        for (String statement : List.of(FOREIGN, FOREIGN_KEYED)) {
            foreign.addAll(new Sql(names, statement)
                    .query(connection, WatchSql::front, Sql.texts(queues), Sql.texts(kinds), Sql.micros(limit)));
        }
        return foreign;
    }

    private static Front front(ResultSet row) throws SQLException {
        return new Front(
                row.getString("queue"), row.getString("kind"), Sql.requiredInstant(row, "since"), row.getLong("job"));
    }

    public List<Pin> pins(Connection connection, Duration limit) throws SQLException {
        return new Sql(names, PINNED)
                .query(
                        connection,
                        row -> new Pin(
                                row.getString("what"),
                                Sql.instant(row, "since"),
                                row.getInt("pid"),
                                row.getString("name"),
                                row.getString("owner"),
                                row.getString("state")),
                        Sql.micros(limit));
    }

    public List<Horizon> horizons(Connection connection) throws SQLException {
        return new Sql(names, HORIZONS)
                .query(
                        connection,
                        row -> new Horizon(
                                row.getString("what"),
                                row.getString("name"),
                                row.getString("xmin"),
                                row.getLong("behind"),
                                row.getBoolean("connected")));
    }

    public List<Lost> lost(Connection connection, Collection<String> kinds, int limit) throws SQLException {
        return new Sql(names, LOST)
                .query(
                        connection,
                        row -> new Lost(
                                row.getString("kind"),
                                row.getInt("times"),
                                row.getInt("jobs"),
                                row.getLong("job"),
                                row.getString("worker")),
                        Sql.texts(kinds),
                        limit);
    }

    /** The database's clock. */
    public Instant now(Connection connection) throws SQLException {
        return new Sql(names, CLOCK)
                .query(connection, row -> Sql.requiredInstant(row, "now"))
                .get(0);
    }

    /** Of these kinds, those that nobody is to be told of again now. */
    public Set<String> quiet(Connection connection, String cause, Collection<String> kinds) throws SQLException {
        return new HashSet<>(
                new Sql(names, QUIET).query(connection, row -> row.getString("kind"), cause, Sql.texts(kinds)));
    }
}
