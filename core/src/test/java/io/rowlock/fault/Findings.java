package io.rowlock.fault;

import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the log that handlers wrote ({@code started}, {@code ended}), the answers that enqueues gave ({@code answered})
 * and the jobs' rows say together against the promises; each sentence is one breach. What counts of a job is its run under
 * the highest token: one that was stopped past its lease may still write to the log. Names of tasks end in {@code #number},
 * and numbers rise in the order in which they were enqueued.
 */
final class Findings {
    /* The last run of each job that completed or died, numbered within its ordering key. */
    private static final String RUN = """
            last AS MATERIALIZED (
              SELECT DISTINCT ON (job_id) job_id, token, attempt, who, at, split_part(name, '#', 2)::bigint AS content
              FROM started ORDER BY job_id, token DESC),
            run AS MATERIALIZED (
              SELECT j.id, j.ordering_key, j.state, j.finished_at, last.at AS began, last.content,
                     (SELECT min(e.at) FROM ended e
                      WHERE e.job_id = j.id AND e.attempt = last.attempt AND e.who = last.who AND e.at >= last.at) AS ended,
                     row_number() OVER (PARTITION BY j.ordering_key ORDER BY j.id) AS n
              FROM rowlock_job j JOIN last ON last.job_id = j.id
              WHERE j.state IN ('completed', 'dead'))
            """;

    private static final String OUT_OF_ORDER = "WITH " + RUN + """
            SELECT before.ordering_key || ': ' || after.id || ' began at ' || after.began || ' though '
                   || before.id || ' ran from ' || before.began || ' to ' || coalesce(before.ended, before.began)
            FROM run before JOIN run after ON after.ordering_key = before.ordering_key AND after.n = before.n + 1
            WHERE after.began < coalesce(before.ended, before.began)
            """;

    private static final String AFTER_ITS_END = "WITH " + RUN + """
            SELECT id || ' ended at ' || finished_at || ' and began to run at ' || began FROM run WHERE began > finished_at
            """;

    private static final String UNDONE = """
            SELECT id || ' is completed and nobody did it' FROM rowlock_job j
            WHERE state = 'completed' AND NOT EXISTS (SELECT FROM ended e WHERE e.job_id = j.id)
            """;

    private static final String TWICE = """
            SELECT job_id || ' was begun twice under token ' || token FROM started GROUP BY job_id, token HAVING count(*) > 1
            """;

    private static final String STRANDED = """
            SELECT id || ' is ' || state || ', of ' || coalesce(locked_by, 'nobody') FROM rowlock_job
            WHERE finished_at IS NULL OR locked_by IS NOT NULL OR waiting_key IS NOT NULL
            """;

    private static final String LOST = """
            SELECT 'of enqueue ' || no || ' job ' || job_id || ' is not there' FROM answered a
            WHERE NOT EXISTS (SELECT FROM rowlock_job j WHERE j.id = a.job_id)
            UNION ALL
            SELECT 'job ' || id || ' was answered as new ' || (SELECT count(*) FROM answered WHERE job_id = id AND NOT duplicate)
                   || ' times' FROM rowlock_job
            WHERE (SELECT count(*) FROM answered WHERE job_id = id AND NOT duplicate) <> 1
            """;

    /* An answer leads to the job that did the work in the end, over those that were cancelled as duplicates of another. */
    private static final String ANSWER = """
            , RECURSIVE_PART AS (
              SELECT no, mode, duplicate, at, job_id, 0 AS step FROM answered
              UNION ALL
              SELECT p.no, p.mode, p.duplicate, p.at, substring(j.last_error FROM 'duplicate of (\\d+)')::bigint, p.step + 1
              FROM RECURSIVE_PART p JOIN rowlock_job j ON j.id = p.job_id
              WHERE j.state = 'cancelled' AND j.last_error LIKE 'duplicate of %'),
            answer AS (
              SELECT DISTINCT ON (no) * FROM RECURSIVE_PART ORDER BY no, step DESC)
            """.replace("RECURSIVE_PART", "path");

    private static final String TOO_EARLY = "WITH RECURSIVE " + RUN + ANSWER + """
            SELECT 'enqueue ' || a.no || ' (' || coalesce(a.mode, 'plain') || ') at ' || a.at || ' was told of job ' || a.job_id
                   || ', which ran before, at ' || r.began
            FROM answer a JOIN run r ON r.id = a.job_id
            WHERE r.state = 'completed' AND r.began < a.at AND a.mode IS DISTINCT FROM 'ONCE'
            """;

    private static final String OLD_CONTENT = "WITH RECURSIVE " + RUN + ANSWER + """
            SELECT 'enqueue ' || a.no || ' (' || coalesce(a.mode, 'plain') || ', duplicate: ' || a.duplicate || ') was told of job '
                   || a.job_id || ', which ran with the content of enqueue ' || r.content
            FROM answer a JOIN run r ON r.id = a.job_id
            WHERE r.content < a.no AND (a.mode = 'REPLACE' OR NOT a.duplicate)
            """;

    /* Without what ran long, as its worker was stopped meanwhile, perhaps past its time. */
    private static final String BEYOND_LIMIT = "WITH " + RUN + """
            , brief AS (
              SELECT j.limit_key, run.began, run.ended FROM run JOIN rowlock_job j USING (id)
              WHERE j.limit_key IS NOT NULL AND run.ended - run.began < interval '1 second'),
            change AS (
              SELECT limit_key, began AS at, 1 AS by FROM brief UNION ALL SELECT limit_key, ended, -1 FROM brief)
            SELECT limit_key || ': ' || n || ' ran at ' || at
            FROM (SELECT limit_key, at, sum(by) OVER (PARTITION BY limit_key ORDER BY at, by) AS n FROM change) running
            WHERE n > (SELECT key_running FROM rowlock_queue)
            """;

    private static final Map<String, String> ALL = new LinkedHashMap<>(Map.of(
            "jobs of a key one at a time, in order", OUT_OF_ORDER,
            "nothing runs after its end", AFTER_ITS_END,
            "completed is done", UNDONE,
            "one run under a token", TWICE,
            "nothing is stranded", STRANDED,
            "no job is lost", LOST,
            "no more of a limit key at once than allowed", BEYOND_LIMIT,
            "a duplicate's job runs after it was told", TOO_EARLY,
            "with the content it was told", OLD_CONTENT));

    private Findings() {}

    /** Makes the log and its indexes; the rest of it is {@link Scene}'s. */
    static void prepare(TestSchema schema) throws SQLException {
        schema.execute("""
                ALTER TABLE ended ADD COLUMN IF NOT EXISTS at timestamptz DEFAULT clock_timestamp();
                CREATE TABLE IF NOT EXISTS answered (no bigint, job_id bigint, mode text, duplicate boolean,
                                                     at timestamptz DEFAULT clock_timestamp());
                CREATE INDEX IF NOT EXISTS started_job ON started (job_id, token);
                CREATE INDEX IF NOT EXISTS ended_job ON ended (job_id);
                CREATE INDEX IF NOT EXISTS answered_job ON answered (job_id);
                TRUNCATE answered;
                """);
    }

    /** The first few breaches of each promise; none if all are kept. */
    static Map<String, List<String>> breaches(TestSchema schema) throws SQLException {
        schema.execute("ANALYZE started; ANALYZE ended; ANALYZE answered; ANALYZE rowlock_job");
        Map<String, List<String>> found = new LinkedHashMap<>();
        for (Map.Entry<String, String> each : ALL.entrySet()) {
            List<String> breaches = schema.list(String.class, each.getValue() + " LIMIT 20");
            if (!breaches.isEmpty()) {
                found.put(each.getKey(), breaches);
            }
        }
        return found;
    }
}
